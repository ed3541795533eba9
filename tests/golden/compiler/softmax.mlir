module {
  tt.func public @kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %0 = tt.get_program_id x : i32
    %1 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %2 = arith.muli %0, %arg2 : i32
    %3 = tt.addptr %arg0, %2 : !tt.ptr<f32>, i32
    %4 = tt.splat %3 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %5 = tt.addptr %4, %1 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %6 = tt.splat %arg2 : i32 -> tensor<1024xi32>
    %7 = arith.cmpi slt, %1, %6 : tensor<1024xi32>
    %8 = arith.constant dense<0xFF800000> : tensor<1024xf32>
    %9 = tt.load %5, %7, %8 : tensor<1024x!tt.ptr<f32>>
    %11 = "tt.reduce"(%9) <{axis = 0 : i32}> ({
    ^bb0(%arg3: f32, %arg4: f32):
      %10 = arith.maxnumf %arg3, %arg4 : f32
      tt.reduce.return %10 : f32
    }) : (tensor<1024xf32>) -> f32
    %12 = tt.splat %11 : f32 -> tensor<1024xf32>
    %13 = arith.subf %9, %12 : tensor<1024xf32>
    %14 = math.exp %13 : tensor<1024xf32>
    %15 = tt.addptr %arg1, %2 : !tt.ptr<f32>, i32
    %16 = tt.splat %15 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %17 = tt.addptr %16, %1 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %19 = "tt.reduce"(%14) <{axis = 0 : i32}> ({
    ^bb0(%arg5: f32, %arg6: f32):
      %18 = arith.addf %arg5, %arg6 : f32
      tt.reduce.return %18 : f32
    }) : (tensor<1024xf32>) -> f32
    %20 = tt.splat %19 : f32 -> tensor<1024xf32>
    %21 = arith.divf %14, %20 : tensor<1024xf32>
    tt.store %17, %21, %7 : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}
