module {
  tt.func public @kernel(%arg0: !tt.ptr<i1>, %arg1: !tt.ptr<i1>, %arg2: !tt.ptr<i32>) attributes {noinline = false} {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %arg0 : !tt.ptr<i1> -> tensor<64x!tt.ptr<i1>>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<i1>>, tensor<64xi32>
    %3 = tt.bitcast %2 : tensor<64x!tt.ptr<i1>> -> tensor<64x!tt.ptr<i8>>
    %4 = tt.load %3 : tensor<64x!tt.ptr<i8>>
    %5 = arith.constant dense<0> : tensor<64xi8>
    %6 = arith.cmpi ne, %4, %5 : tensor<64xi8>
    %7 = tt.splat %arg1 : !tt.ptr<i1> -> tensor<64x!tt.ptr<i1>>
    %8 = tt.addptr %7, %0 : tensor<64x!tt.ptr<i1>>, tensor<64xi32>
    %9 = tt.bitcast %8 : tensor<64x!tt.ptr<i1>> -> tensor<64x!tt.ptr<i8>>
    %10 = arith.extui %6 : tensor<64xi1> to tensor<64xi8>
    tt.store %9, %10 : tensor<64x!tt.ptr<i8>>
    %11 = tt.splat %arg2 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %12 = tt.addptr %11, %0 : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %13 = arith.extui %6 : tensor<64xi1> to tensor<64xi32>
    %14 = arith.constant dense<1> : tensor<64xi32>
    %15 = arith.addi %13, %14 : tensor<64xi32>
    tt.store %12, %15 : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
