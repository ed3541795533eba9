module {
  tt.func public @kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %3 = tt.load %2 : tensor<64x!tt.ptr<f32>>
    %4 = arith.constant 10 : i32
    %5 = arith.cmpi sgt, %arg2, %4 : i32
    %23:2 = scf.if %5 -> (tensor<64xf32>, f32) {
      %6 = arith.constant dense<2.0> : tensor<64xf32>
      %7 = arith.mulf %3, %6 : tensor<64xf32>
      %8 = arith.constant 3.0 : f32
      scf.yield %7, %8 : tensor<64xf32>, f32
    } else {
      %9 = arith.constant 5 : i32
      %10 = arith.cmpi sgt, %arg2, %9 : i32
      %22:2 = scf.if %10 -> (tensor<64xf32>, f32) {
        %11 = arith.constant dense<1.0> : tensor<64xf32>
        %12 = arith.addf %3, %11 : tensor<64xf32>
        %13 = arith.mulf %12, %12 : tensor<64xf32>
        %14 = arith.constant 1.5 : f32
        scf.yield %13, %14 : tensor<64xf32>, f32
      } else {
        %15 = arith.constant 0 : i32
        %16 = arith.cmpi eq, %arg2, %15 : i32
        %21:2 = scf.if %16 -> (tensor<64xf32>, f32) {
          %17 = arith.constant 1.5 : f32
          scf.yield %3, %17 : tensor<64xf32>, f32
        } else {
          %18 = arith.constant dense<0.0> : tensor<64xf32>
          %19 = arith.subf %18, %3 : tensor<64xf32>
          %20 = arith.constant -1.5 : f32
          scf.yield %19, %20 : tensor<64xf32>, f32
        }
        scf.yield %21#0, %21#1 : tensor<64xf32>, f32
      }
      scf.yield %22#0, %22#1 : tensor<64xf32>, f32
    }
    %24 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %25 = tt.addptr %24, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %26 = tt.splat %23#1 : f32 -> tensor<64xf32>
    %27 = arith.mulf %23#0, %26 : tensor<64xf32>
    tt.store %25, %27 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
