module {
  tt.func public @kernel(%arg0: !tt.ptr<f16>, %arg1: !tt.ptr<f16>, %arg2: i32, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32, %arg7: i32) attributes {noinline = false} {
    %0 = tt.get_program_id x : i32
    %1 = arith.constant 32 : i32
    %2 = arith.muli %0, %1 : i32
    %3 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %4 = tt.splat %2 : i32 -> tensor<32xi32>
    %5 = arith.addi %4, %3 : tensor<32xi32>
    %6 = tt.get_program_id y : i32
    %7 = arith.constant 64 : i32
    %8 = arith.muli %6, %7 : i32
    %9 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %10 = tt.splat %8 : i32 -> tensor<64xi32>
    %11 = arith.addi %10, %9 : tensor<64xi32>
    %12 = tt.expand_dims %5 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %13 = tt.splat %arg2 : i32 -> tensor<32x1xi32>
    %14 = arith.cmpi slt, %12, %13 : tensor<32x1xi32>
    %15 = tt.expand_dims %11 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %16 = tt.splat %arg3 : i32 -> tensor<1x64xi32>
    %17 = arith.cmpi slt, %15, %16 : tensor<1x64xi32>
    %18 = tt.broadcast %14 : tensor<32x1xi1> -> tensor<32x64xi1>
    %19 = tt.broadcast %17 : tensor<1x64xi1> -> tensor<32x64xi1>
    %20 = arith.andi %18, %19 : tensor<32x64xi1>
    %21 = tt.splat %arg4 : i32 -> tensor<32x1xi32>
    %22 = arith.muli %12, %21 : tensor<32x1xi32>
    %23 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %24 = tt.addptr %23, %22 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %25 = tt.broadcast %24 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
    %26 = tt.broadcast %15 : tensor<1x64xi32> -> tensor<32x64xi32>
    %27 = tt.addptr %25, %26 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %28 = tt.load %27, %20 : tensor<32x64x!tt.ptr<f16>>
    %29 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %30 = tt.addptr %29, %12 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %31 = tt.splat %arg7 : i32 -> tensor<1x64xi32>
    %32 = arith.muli %15, %31 : tensor<1x64xi32>
    %33 = tt.broadcast %30 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
    %34 = tt.broadcast %32 : tensor<1x64xi32> -> tensor<32x64xi32>
    %35 = tt.addptr %33, %34 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %36 = arith.constant dense<1.0> : tensor<32x64xf16>
    %37 = arith.addf %28, %36 : tensor<32x64xf16>
    tt.store %35, %37, %20 : tensor<32x64x!tt.ptr<f16>>
    tt.return
  }
}
