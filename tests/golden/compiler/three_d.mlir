module {
  tt.func public @kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: !tt.ptr<f32>) attributes {noinline = false} {
    %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %2 = tt.expand_dims %1 {axis = 2 : i32} : tensor<8x1xi32> -> tensor<8x1x1xi32>
    %3 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %4 = tt.expand_dims %3 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %5 = tt.expand_dims %4 {axis = 2 : i32} : tensor<1x16xi32> -> tensor<1x16x1xi32>
    %6 = tt.expand_dims %4 {axis = 1 : i32} : tensor<1x16xi32> -> tensor<1x1x16xi32>
    %7 = arith.constant dense<256> : tensor<8x1x1xi32>
    %8 = arith.muli %2, %7 : tensor<8x1x1xi32>
    %9 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x1x1x!tt.ptr<f32>>
    %10 = tt.addptr %9, %8 : tensor<8x1x1x!tt.ptr<f32>>, tensor<8x1x1xi32>
    %11 = arith.constant dense<16> : tensor<1x16x1xi32>
    %12 = arith.muli %5, %11 : tensor<1x16x1xi32>
    %13 = tt.broadcast %10 : tensor<8x1x1x!tt.ptr<f32>> -> tensor<8x16x1x!tt.ptr<f32>>
    %14 = tt.broadcast %12 : tensor<1x16x1xi32> -> tensor<8x16x1xi32>
    %15 = tt.addptr %13, %14 : tensor<8x16x1x!tt.ptr<f32>>, tensor<8x16x1xi32>
    %16 = tt.broadcast %15 : tensor<8x16x1x!tt.ptr<f32>> -> tensor<8x16x16x!tt.ptr<f32>>
    %17 = tt.broadcast %6 : tensor<1x1x16xi32> -> tensor<8x16x16xi32>
    %18 = tt.addptr %16, %17 : tensor<8x16x16x!tt.ptr<f32>>, tensor<8x16x16xi32>
    %19 = tt.load %18 : tensor<8x16x16x!tt.ptr<f32>>
    %20 = tt.expand_dims %3 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %21 = arith.constant dense<16> : tensor<16x1xi32>
    %22 = arith.muli %20, %21 : tensor<16x1xi32>
    %23 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %24 = tt.addptr %23, %22 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %25 = tt.broadcast %24 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    %26 = tt.broadcast %4 : tensor<1x16xi32> -> tensor<16x16xi32>
    %27 = tt.addptr %25, %26 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %29 = "tt.reduce"(%19) <{axis = 0 : i32}> ({
    ^bb0(%arg4: f32, %arg5: f32):
      %28 = arith.addf %arg4, %arg5 : f32
      tt.reduce.return %28 : f32
    }) : (tensor<8x16x16xf32>) -> tensor<16x16xf32>
    tt.store %27, %29 : tensor<16x16x!tt.ptr<f32>>
    %30 = arith.constant dense<16> : tensor<8x1xi32>
    %31 = arith.muli %1, %30 : tensor<8x1xi32>
    %32 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
    %33 = tt.addptr %32, %31 : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi32>
    %34 = tt.broadcast %33 : tensor<8x1x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
    %35 = tt.broadcast %4 : tensor<1x16xi32> -> tensor<8x16xi32>
    %36 = tt.addptr %34, %35 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %38 = "tt.reduce"(%19) <{axis = 1 : i32}> ({
    ^bb0(%arg6: f32, %arg7: f32):
      %37 = arith.addf %arg6, %arg7 : f32
      tt.reduce.return %37 : f32
    }) : (tensor<8x16x16xf32>) -> tensor<8x16xf32>
    tt.store %36, %38 : tensor<8x16x!tt.ptr<f32>>
    %39 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %40 = tt.addptr %39, %0 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %42 = "tt.reduce"(%19) <{axis = 2 : i32}> ({
    ^bb0(%arg8: f32, %arg9: f32):
      %41 = arith.maxnumf %arg8, %arg9 : f32
      tt.reduce.return %41 : f32
    }) : (tensor<8x16x16xf32>) -> tensor<8x16xf32>
    %44 = "tt.reduce"(%42) <{axis = 1 : i32}> ({
    ^bb0(%arg10: f32, %arg11: f32):
      %43 = arith.addf %arg10, %arg11 : f32
      tt.reduce.return %43 : f32
    }) : (tensor<8x16xf32>) -> tensor<8xf32>
    tt.store %40, %44 : tensor<8x!tt.ptr<f32>>
    tt.return
  }
}
