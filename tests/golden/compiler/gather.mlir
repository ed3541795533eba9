module {
  tt.func public @kernel(%arg0: !tt.ptr<f64>, %arg1: !tt.ptr<i64>, %arg2: !tt.ptr<i8>, %arg3: !tt.ptr<f64>, %arg4: i32) attributes {noinline = false} {
    %0 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %1 = tt.splat %arg2 : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>>
    %2 = tt.addptr %1, %0 : tensor<256x!tt.ptr<i8>>, tensor<256xi32>
    %3 = tt.load %2 : tensor<256x!tt.ptr<i8>>
    %4 = arith.constant dense<0> : tensor<256xi8>
    %5 = arith.cmpi ne, %3, %4 : tensor<256xi8>
    %6 = tt.splat %arg1 : !tt.ptr<i64> -> tensor<256x!tt.ptr<i64>>
    %7 = tt.addptr %6, %0 : tensor<256x!tt.ptr<i64>>, tensor<256xi32>
    %8 = tt.load %7 : tensor<256x!tt.ptr<i64>>
    %9 = tt.splat %arg0 : !tt.ptr<f64> -> tensor<256x!tt.ptr<f64>>
    %10 = tt.addptr %9, %8 : tensor<256x!tt.ptr<f64>>, tensor<256xi64>
    %11 = arith.constant dense<0.0> : tensor<256xf64>
    %12 = tt.load %10, %5, %11 : tensor<256x!tt.ptr<f64>>
    %13 = tt.splat %arg3 : !tt.ptr<f64> -> tensor<256x!tt.ptr<f64>>
    %14 = tt.addptr %13, %8 : tensor<256x!tt.ptr<f64>>, tensor<256xi64>
    %15 = arith.addf %12, %12 : tensor<256xf64>
    tt.store %14, %15, %5 : tensor<256x!tt.ptr<f64>>
    tt.return
  }
}
