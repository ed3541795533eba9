module {
  tt.func public @kernel(%arg0: !tt.ptr<f16>, %arg1: !tt.ptr<f16>, %arg2: !tt.ptr<f16>, %arg3: i32, %arg4: i32, %arg5: i32) attributes {noinline = false} {
    %0 = tt.get_program_id x : i32
    %1 = arith.constant 64 : i32
    %2 = arith.muli %0, %1 : i32
    %3 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %4 = tt.splat %2 : i32 -> tensor<64xi32>
    %5 = arith.addi %4, %3 : tensor<64xi32>
    %6 = tt.get_program_id y : i32
    %7 = arith.constant 32 : i32
    %8 = arith.muli %6, %7 : i32
    %9 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %10 = tt.splat %8 : i32 -> tensor<32xi32>
    %11 = arith.addi %10, %9 : tensor<32xi32>
    %12 = tt.expand_dims %5 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %13 = tt.splat %arg5 : i32 -> tensor<64x1xi32>
    %14 = arith.muli %12, %13 : tensor<64x1xi32>
    %15 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %16 = tt.addptr %15, %14 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %17 = tt.expand_dims %9 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %18 = tt.broadcast %16 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
    %19 = tt.broadcast %17 : tensor<1x32xi32> -> tensor<64x32xi32>
    %20 = tt.addptr %18, %19 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %21 = tt.expand_dims %9 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %22 = tt.splat %arg4 : i32 -> tensor<32x1xi32>
    %23 = arith.muli %21, %22 : tensor<32x1xi32>
    %24 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %25 = tt.addptr %24, %23 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %26 = tt.expand_dims %11 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %27 = tt.broadcast %25 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x32x!tt.ptr<f16>>
    %28 = tt.broadcast %26 : tensor<1x32xi32> -> tensor<32x32xi32>
    %29 = tt.addptr %27, %28 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %30 = arith.constant dense<0.0> : tensor<64x32xf32>
    %31 = arith.constant 1 : i32
    %32 = arith.constant 31 : i32
    %33 = arith.addi %arg5, %32 : i32
    %34 = arith.divsi %33, %7 : i32
    %35 = arith.constant 0 : i32
    %62:3 = scf.for %arg6 = %35 to %34 step %31 iter_args(%arg7 = %30, %arg8 = %20, %arg9 = %29) -> (tensor<64x32xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>)  : i32 {
      %36 = arith.muli %arg6, %7 : i32
      %37 = arith.subi %arg5, %36 : i32
      %38 = tt.splat %arg3 : i32 -> tensor<64x1xi32>
      %39 = arith.cmpi slt, %12, %38 : tensor<64x1xi32>
      %40 = tt.splat %37 : i32 -> tensor<1x32xi32>
      %41 = arith.cmpi slt, %17, %40 : tensor<1x32xi32>
      %42 = tt.broadcast %39 : tensor<64x1xi1> -> tensor<64x32xi1>
      %43 = tt.broadcast %41 : tensor<1x32xi1> -> tensor<64x32xi1>
      %44 = arith.andi %42, %43 : tensor<64x32xi1>
      %45 = arith.constant dense<0.0> : tensor<64x32xf16>
      %46 = tt.load %arg8, %44, %45 : tensor<64x32x!tt.ptr<f16>>
      %47 = tt.splat %37 : i32 -> tensor<32x1xi32>
      %48 = arith.cmpi slt, %21, %47 : tensor<32x1xi32>
      %49 = tt.splat %arg4 : i32 -> tensor<1x32xi32>
      %50 = arith.cmpi slt, %26, %49 : tensor<1x32xi32>
      %51 = tt.broadcast %48 : tensor<32x1xi1> -> tensor<32x32xi1>
      %52 = tt.broadcast %50 : tensor<1x32xi1> -> tensor<32x32xi1>
      %53 = arith.andi %51, %52 : tensor<32x32xi1>
      %54 = arith.constant dense<0.0> : tensor<32x32xf16>
      %55 = tt.load %arg9, %53, %54 : tensor<32x32x!tt.ptr<f16>>
      %56 = tt.dot %46, %55, %arg7 : tensor<64x32xf16> * tensor<32x32xf16> -> tensor<64x32xf32>
      %57 = arith.constant dense<32> : tensor<64x32xi32>
      %58 = tt.addptr %arg8, %57 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %59 = arith.muli %7, %arg4 : i32
      %60 = tt.splat %59 : i32 -> tensor<32x32xi32>
      %61 = tt.addptr %arg9, %60 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
      scf.yield %56, %58, %61 : tensor<64x32xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>
    }
    %63 = tt.splat %arg4 : i32 -> tensor<64x1xi32>
    %64 = arith.muli %12, %63 : tensor<64x1xi32>
    %65 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %66 = tt.addptr %65, %64 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %67 = tt.broadcast %66 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
    %68 = tt.broadcast %26 : tensor<1x32xi32> -> tensor<64x32xi32>
    %69 = tt.addptr %67, %68 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %70 = arith.truncf %62#0 : tensor<64x32xf32> to tensor<64x32xf16>
    %71 = tt.splat %arg3 : i32 -> tensor<64x1xi32>
    %72 = arith.cmpi slt, %12, %71 : tensor<64x1xi32>
    %73 = tt.splat %arg4 : i32 -> tensor<1x32xi32>
    %74 = arith.cmpi slt, %26, %73 : tensor<1x32xi32>
    %75 = tt.broadcast %72 : tensor<64x1xi1> -> tensor<64x32xi1>
    %76 = tt.broadcast %74 : tensor<1x32xi1> -> tensor<64x32xi1>
    %77 = arith.andi %75, %76 : tensor<64x32xi1>
    tt.store %69, %70, %77 : tensor<64x32x!tt.ptr<f16>>
    tt.return
  }
}
