module {
  tt.func public @kernel(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<i1>, %arg2: !tt.ptr<i8>, %arg3: !tt.ptr<i16>, %arg4: !tt.ptr<i32>, %arg5: !tt.ptr<i64>, %arg6: !tt.ptr<i8>, %arg7: !tt.ptr<i16>, %arg8: !tt.ptr<i32>, %arg9: !tt.ptr<i64>, %arg10: !tt.ptr<f16>, %arg11: !tt.ptr<f32>, %arg12: !tt.ptr<f64>) attributes {noinline = false} {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %3 = tt.load %2 : tensor<64x!tt.ptr<bf16>>
    %4 = tt.splat %arg1 : !tt.ptr<i1> -> tensor<64x!tt.ptr<i1>>
    %5 = tt.addptr %4, %0 : tensor<64x!tt.ptr<i1>>, tensor<64xi32>
    %6 = arith.constant dense<0.0> : tensor<64xbf16>
    %7 = arith.cmpf une, %3, %6 : tensor<64xbf16>
    %8 = tt.bitcast %5 : tensor<64x!tt.ptr<i1>> -> tensor<64x!tt.ptr<i8>>
    %9 = arith.extui %7 : tensor<64xi1> to tensor<64xi8>
    tt.store %8, %9 : tensor<64x!tt.ptr<i8>>
    %10 = tt.splat %arg2 : !tt.ptr<i8> -> tensor<64x!tt.ptr<i8>>
    %11 = tt.addptr %10, %0 : tensor<64x!tt.ptr<i8>>, tensor<64xi32>
    %12 = arith.extf %3 : tensor<64xbf16> to tensor<64xf32>
    %13 = arith.fptosi %12 : tensor<64xf32> to tensor<64xi8>
    tt.store %11, %13 : tensor<64x!tt.ptr<i8>>
    %14 = tt.splat %arg3 : !tt.ptr<i16> -> tensor<64x!tt.ptr<i16>>
    %15 = tt.addptr %14, %0 : tensor<64x!tt.ptr<i16>>, tensor<64xi32>
    %16 = arith.fptosi %12 : tensor<64xf32> to tensor<64xi16>
    tt.store %15, %16 : tensor<64x!tt.ptr<i16>>
    %17 = tt.splat %arg4 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %18 = tt.addptr %17, %0 : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %19 = arith.fptosi %12 : tensor<64xf32> to tensor<64xi32>
    tt.store %18, %19 : tensor<64x!tt.ptr<i32>>
    %20 = tt.splat %arg5 : !tt.ptr<i64> -> tensor<64x!tt.ptr<i64>>
    %21 = tt.addptr %20, %0 : tensor<64x!tt.ptr<i64>>, tensor<64xi32>
    %22 = arith.fptosi %12 : tensor<64xf32> to tensor<64xi64>
    tt.store %21, %22 : tensor<64x!tt.ptr<i64>>
    %23 = tt.splat %arg6 : !tt.ptr<i8> -> tensor<64x!tt.ptr<i8>>
    %24 = tt.addptr %23, %0 : tensor<64x!tt.ptr<i8>>, tensor<64xi32>
    %25 = arith.fptoui %12 : tensor<64xf32> to tensor<64xi8>
    tt.store %24, %25 : tensor<64x!tt.ptr<i8>>
    %26 = tt.splat %arg7 : !tt.ptr<i16> -> tensor<64x!tt.ptr<i16>>
    %27 = tt.addptr %26, %0 : tensor<64x!tt.ptr<i16>>, tensor<64xi32>
    %28 = arith.fptoui %12 : tensor<64xf32> to tensor<64xi16>
    tt.store %27, %28 : tensor<64x!tt.ptr<i16>>
    %29 = tt.splat %arg8 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %30 = tt.addptr %29, %0 : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %31 = arith.fptoui %12 : tensor<64xf32> to tensor<64xi32>
    tt.store %30, %31 : tensor<64x!tt.ptr<i32>>
    %32 = tt.splat %arg9 : !tt.ptr<i64> -> tensor<64x!tt.ptr<i64>>
    %33 = tt.addptr %32, %0 : tensor<64x!tt.ptr<i64>>, tensor<64xi32>
    %34 = arith.fptoui %12 : tensor<64xf32> to tensor<64xi64>
    tt.store %33, %34 : tensor<64x!tt.ptr<i64>>
    %35 = tt.splat %arg10 : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
    %36 = tt.addptr %35, %0 : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
    %37 = arith.truncf %12 : tensor<64xf32> to tensor<64xf16>
    tt.store %36, %37 : tensor<64x!tt.ptr<f16>>
    %38 = tt.splat %arg11 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %39 = tt.addptr %38, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %39, %12 : tensor<64x!tt.ptr<f32>>
    %40 = tt.splat %arg12 : !tt.ptr<f64> -> tensor<64x!tt.ptr<f64>>
    %41 = tt.addptr %40, %0 : tensor<64x!tt.ptr<f64>>, tensor<64xi32>
    %42 = arith.extf %12 : tensor<64xf32> to tensor<64xf64>
    tt.store %41, %42 : tensor<64x!tt.ptr<f64>>
    tt.return
  }
}
