module {
  tt.func public @kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %3 = tt.load %2 : tensor<64x!tt.ptr<f32>>
    %4 = arith.constant dense<2.0> : tensor<64xf32>
    %5 = arith.mulf %3, %4 : tensor<64xf32>
    %6 = arith.constant dense<3.0> : tensor<64xf32>
    %7 = arith.mulf %5, %6 : tensor<64xf32>
    %8 = arith.constant dense<1.0> : tensor<64xf32>
    %9 = arith.addf %7, %8 : tensor<64xf32>
    %10 = arith.sitofp %arg2 : i32 to f32
    %11 = tt.splat %10 : f32 -> tensor<64xf32>
    %12 = arith.addf %9, %11 : tensor<64xf32>
    %13 = arith.subf %9, %11 : tensor<64xf32>
    %14 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %15 = tt.addptr %14, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %16 = arith.mulf %12, %13 : tensor<64xf32>
    tt.store %15, %16 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
