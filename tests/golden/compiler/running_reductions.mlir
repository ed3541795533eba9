module {
  tt.func public @kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %2 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %3 = arith.constant 32 : i32
    %4 = arith.constant dense<32> : tensor<64x1xi32>
    %5 = arith.muli %2, %4 : tensor<64x1xi32>
    %6 = tt.expand_dims %1 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %7 = tt.broadcast %5 : tensor<64x1xi32> -> tensor<64x32xi32>
    %8 = tt.broadcast %6 : tensor<1x32xi32> -> tensor<64x32xi32>
    %9 = arith.addi %7, %8 : tensor<64x32xi32>
    %10 = arith.constant dense<0xFF800000> : tensor<64xf32>
    %11 = arith.constant dense<0.0> : tensor<64xf32>
    %12 = arith.constant dense<0.0> : tensor<64x32xf32>
    %13 = arith.constant 0 : i32
    %14 = arith.constant 1 : i32
    %37:3 = scf.for %arg3 = %13 to %arg2 step %14 iter_args(%arg4 = %11, %arg5 = %12, %arg6 = %10) -> (tensor<64xf32>, tensor<64x32xf32>, tensor<64xf32>)  : i32 {
      %15 = arith.constant 64 : i32
      %16 = arith.muli %arg3, %15 : i32
      %17 = arith.muli %16, %3 : i32
      %18 = tt.addptr %arg0, %17 : !tt.ptr<f32>, i32
      %19 = tt.splat %18 : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
      %20 = tt.addptr %19, %9 : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
      %21 = tt.load %20 : tensor<64x32x!tt.ptr<f32>>
      %23 = "tt.reduce"(%21) <{axis = 1 : i32}> ({
      ^bb0(%arg7: f32, %arg8: f32):
        %22 = arith.maxnumf %arg7, %arg8 : f32
        tt.reduce.return %22 : f32
      }) : (tensor<64x32xf32>) -> tensor<64xf32>
      %24 = arith.maxnumf %arg6, %23 : tensor<64xf32>
      %25 = arith.cmpf oeq, %24, %arg6 : tensor<64xf32>
      %26 = arith.constant dense<1.0> : tensor<64xf32>
      %27 = arith.constant dense<0.5> : tensor<64xf32>
      %28 = arith.select %25, %26, %27 : tensor<64xi1>, tensor<64xf32>
      %29 = arith.mulf %arg4, %28 : tensor<64xf32>
      %31 = "tt.reduce"(%21) <{axis = 1 : i32}> ({
      ^bb0(%arg9: f32, %arg10: f32):
        %30 = arith.addf %arg9, %arg10 : f32
        tt.reduce.return %30 : f32
      }) : (tensor<64x32xf32>) -> tensor<64xf32>
      %32 = arith.addf %29, %31 : tensor<64xf32>
      %33 = tt.expand_dims %28 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
      %34 = tt.broadcast %33 : tensor<64x1xf32> -> tensor<64x32xf32>
      %35 = arith.mulf %arg5, %34 : tensor<64x32xf32>
      %36 = arith.addf %35, %21 : tensor<64x32xf32>
      scf.yield %32, %36, %24 : tensor<64xf32>, tensor<64x32xf32>, tensor<64xf32>
    }
    %38 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
    %39 = tt.addptr %38, %9 : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
    %40 = tt.expand_dims %37#0 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %41 = tt.broadcast %40 : tensor<64x1xf32> -> tensor<64x32xf32>
    %42 = arith.addf %37#1, %41 : tensor<64x32xf32>
    tt.store %39, %42 : tensor<64x32x!tt.ptr<f32>>
    tt.return
  }
}
