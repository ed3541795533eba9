module {
  tt.func public @kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: !tt.ptr<f32>, %arg4: i32, %arg5: !tt.ptr<f32>) attributes {noinline = false} {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %arg4 : i32 -> tensor<64xi32>
    %2 = arith.cmpi slt, %0, %1 : tensor<64xi32>
    %3 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %4 = tt.addptr %3, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %5 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %6 = tt.addptr %5, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %7 = tt.load %6, %2 : tensor<64x!tt.ptr<f32>>
    tt.store %4, %7, %2 : tensor<64x!tt.ptr<f32>>
    %8 = tt.splat %arg3 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %9 = tt.addptr %8, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %10 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %11 = tt.addptr %10, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %12 = tt.load %11, %2 : tensor<64x!tt.ptr<f32>>
    %13 = arith.constant 2.0 : f32
    %14 = arith.constant dense<2.0> : tensor<64xf32>
    %15 = arith.mulf %12, %14 : tensor<64xf32>
    tt.store %9, %15, %2 : tensor<64x!tt.ptr<f32>>
    %16 = tt.splat %arg5 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %17 = tt.addptr %16, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %18 = tt.load %17, %2 : tensor<64x!tt.ptr<f32>>
    tt.store %4, %18, %2 : tensor<64x!tt.ptr<f32>>
    %19 = arith.constant 2 : i32
    %20 = arith.muli %arg4, %19 : i32
    %21 = arith.sitofp %20 : i32 to f32
    tt.store %arg3, %21 : !tt.ptr<f32>
    %22 = arith.constant 1 : i32
    %23 = tt.addptr %arg3, %22 : !tt.ptr<f32>, i32
    tt.store %23, %13 : !tt.ptr<f32>
    tt.return
  }
}
