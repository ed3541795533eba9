module {
  tt.func public @kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %0 = tt.get_program_id x : i32
    %1 = arith.constant 1024 : i32
    %2 = arith.muli %0, %1 : i32
    %3 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %4 = tt.splat %2 : i32 -> tensor<1024xi32>
    %5 = arith.addi %4, %3 : tensor<1024xi32>
    %6 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %7 = tt.addptr %6, %5 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %8 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %9 = tt.addptr %8, %5 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %10 = tt.splat %arg2 : i32 -> tensor<1024xi32>
    %11 = arith.cmpi slt, %5, %10 : tensor<1024xi32>
    %12 = tt.load %9, %11 : tensor<1024x!tt.ptr<f32>>
    tt.store %7, %12, %11 : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}
