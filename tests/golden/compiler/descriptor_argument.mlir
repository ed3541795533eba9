module {
  tt.func public @kernel(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %arg1: i32, %arg2: i32, %arg3: i64 {tt.divisibility = 8 : i32}, %arg4: i1, %arg5: !tt.ptr<bf16>, %arg6: i32, %arg7: i32) attributes {noinline = false} {
    %0 = arith.extsi %arg1 : i32 to i64
    %1 = arith.extsi %arg2 : i32 to i64
    %2 = arith.constant 0x7FFF : bf16
    %3 = arith.constant 0.0 : bf16
    %4 = arith.select %arg4, %2, %3 : bf16
    %5 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %6 = arith.extsi %arg6 : i32 to i64
    %7 = arith.extsi %5 : tensor<16xi32> to tensor<16xi64>
    %8 = tt.splat %6 : i64 -> tensor<16xi64>
    %9 = arith.addi %8, %7 : tensor<16xi64>
    %10 = tt.expand_dims %9 {axis = 1 : i32} : tensor<16xi64> -> tensor<16x1xi64>
    %11 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %12 = arith.extsi %arg7 : i32 to i64
    %13 = arith.extsi %11 : tensor<32xi32> to tensor<32xi64>
    %14 = tt.splat %12 : i64 -> tensor<32xi64>
    %15 = arith.addi %14, %13 : tensor<32xi64>
    %16 = tt.expand_dims %15 {axis = 0 : i32} : tensor<32xi64> -> tensor<1x32xi64>
    %17 = tt.splat %arg3 : i64 -> tensor<16x1xi64>
    %18 = arith.muli %10, %17 : tensor<16x1xi64>
    %19 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<16x1x!tt.ptr<bf16>>
    %20 = tt.addptr %19, %18 : tensor<16x1x!tt.ptr<bf16>>, tensor<16x1xi64>
    %21 = tt.broadcast %20 : tensor<16x1x!tt.ptr<bf16>> -> tensor<16x32x!tt.ptr<bf16>>
    %22 = tt.broadcast %16 : tensor<1x32xi64> -> tensor<16x32xi64>
    %23 = tt.addptr %21, %22 : tensor<16x32x!tt.ptr<bf16>>, tensor<16x32xi64>
    %24 = arith.constant dense<0> : tensor<16x1xi64>
    %25 = arith.cmpi sge, %10, %24 : tensor<16x1xi64>
    %26 = tt.splat %0 : i64 -> tensor<16x1xi64>
    %27 = arith.cmpi slt, %10, %26 : tensor<16x1xi64>
    %28 = arith.andi %25, %27 : tensor<16x1xi1>
    %29 = arith.constant dense<0> : tensor<1x32xi64>
    %30 = arith.cmpi sge, %16, %29 : tensor<1x32xi64>
    %31 = tt.splat %1 : i64 -> tensor<1x32xi64>
    %32 = arith.cmpi slt, %16, %31 : tensor<1x32xi64>
    %33 = arith.andi %30, %32 : tensor<1x32xi1>
    %34 = tt.broadcast %28 : tensor<16x1xi1> -> tensor<16x32xi1>
    %35 = tt.broadcast %33 : tensor<1x32xi1> -> tensor<16x32xi1>
    %36 = arith.andi %34, %35 : tensor<16x32xi1>
    %37 = tt.splat %4 : bf16 -> tensor<16x32xbf16>
    %38 = tt.load %23, %36, %37 : tensor<16x32x!tt.ptr<bf16>>
    %39 = tt.expand_dims %5 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %40 = arith.constant dense<32> : tensor<16x1xi32>
    %41 = arith.muli %39, %40 : tensor<16x1xi32>
    %42 = tt.splat %arg5 : !tt.ptr<bf16> -> tensor<16x1x!tt.ptr<bf16>>
    %43 = tt.addptr %42, %41 : tensor<16x1x!tt.ptr<bf16>>, tensor<16x1xi32>
    %44 = tt.expand_dims %11 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %45 = tt.broadcast %43 : tensor<16x1x!tt.ptr<bf16>> -> tensor<16x32x!tt.ptr<bf16>>
    %46 = tt.broadcast %44 : tensor<1x32xi32> -> tensor<16x32xi32>
    %47 = tt.addptr %45, %46 : tensor<16x32x!tt.ptr<bf16>>, tensor<16x32xi32>
    tt.store %47, %38 : tensor<16x32x!tt.ptr<bf16>>
    tt.return
  }
}
