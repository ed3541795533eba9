module {
  tt.func public @kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = arith.constant 0 : i32
    %2 = arith.cmpi sgt, %arg3, %1 : i32
    %4 = scf.if %2 -> (!tt.ptr<f32>) {
      %3 = tt.addptr %arg1, %arg3 : !tt.ptr<f32>, i32
      scf.yield %3 : !tt.ptr<f32>
    } else {
      scf.yield %arg0 : !tt.ptr<f32>
    }
    %5 = arith.constant 1 : i32
    %6 = arith.cmpi sgt, %arg3, %5 : i32
    %13 = scf.if %6 -> (tensor<64x!tt.ptr<f32>>) {
      %7 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %8 = tt.addptr %7, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      scf.yield %8 : tensor<64x!tt.ptr<f32>>
    } else {
      %9 = arith.constant dense<2> : tensor<64xi32>
      %10 = arith.muli %9, %0 : tensor<64xi32>
      %11 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %12 = tt.addptr %11, %10 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      scf.yield %12 : tensor<64x!tt.ptr<f32>>
    }
    %14 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %15 = tt.addptr %14, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %16 = tt.splat %4 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %17 = tt.addptr %16, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %18 = tt.load %17 : tensor<64x!tt.ptr<f32>>
    %19 = tt.load %13 : tensor<64x!tt.ptr<f32>>
    %20 = arith.addf %18, %19 : tensor<64xf32>
    tt.store %15, %20 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
