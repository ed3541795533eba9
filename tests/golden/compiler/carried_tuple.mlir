module {
  tt.func public @kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %3 = tt.load %2 : tensor<16x!tt.ptr<f32>>
    %4 = arith.constant 0 : i32
    %5 = arith.constant 1 : i32
    %6 = arith.constant 2.0 : f32
    %16:4 = scf.for %arg3 = %4 to %arg2 step %5 iter_args(%arg4 = %3, %arg5 = %5, %arg6 = %6, %arg7 = %0) -> (tensor<16xf32>, i32, f32, tensor<16xi32>)  : i32 {
      %7 = arith.sitofp %arg3 : i32 to f32
      %8 = tt.splat %7 : f32 -> tensor<16xf32>
      %9 = arith.addf %arg4, %8 : tensor<16xf32>
      %10 = arith.constant 2 : i32
      %11 = arith.muli %arg5, %10 : i32
      %12 = arith.constant 0.5 : f32
      %13 = arith.addf %arg6, %12 : f32
      %14 = arith.constant dense<1> : tensor<16xi32>
      %15 = arith.addi %arg7, %14 : tensor<16xi32>
      scf.yield %9, %11, %13, %15 : tensor<16xf32>, i32, f32, tensor<16xi32>
    }
    %17 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %18 = tt.addptr %17, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %19 = arith.sitofp %16#1 : i32 to f32
    %20 = tt.splat %19 : f32 -> tensor<16xf32>
    %21 = arith.addf %16#0, %20 : tensor<16xf32>
    %22 = tt.splat %16#2 : f32 -> tensor<16xf32>
    %23 = arith.addf %21, %22 : tensor<16xf32>
    %24 = arith.sitofp %16#3 : tensor<16xi32> to tensor<16xf32>
    %25 = arith.addf %23, %24 : tensor<16xf32>
    tt.store %18, %25 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
