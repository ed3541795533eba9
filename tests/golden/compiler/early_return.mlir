module {
  tt.func public @kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %0 = tt.get_program_id x : i32
    %1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %2 = arith.cmpi sge, %0, %arg2 : i32
    scf.if %2 {
      scf.yield
    } else {
      %3 = arith.constant 16 : i32
      %4 = arith.muli %0, %3 : i32
      %5 = tt.addptr %arg0, %4 : !tt.ptr<f32>, i32
      %6 = tt.splat %5 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %7 = tt.addptr %6, %1 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %8 = tt.load %7 : tensor<16x!tt.ptr<f32>>
      %9 = arith.constant 1 : i32
      %10 = arith.cmpi eq, %0, %9 : i32
      scf.if %10 {
        %11 = tt.addptr %arg1, %4 : !tt.ptr<f32>, i32
        %12 = tt.splat %11 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
        %13 = tt.addptr %12, %1 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
        %14 = arith.constant dense<0.0> : tensor<16xf32>
        %15 = arith.subf %14, %8 : tensor<16xf32>
        tt.store %13, %15 : tensor<16x!tt.ptr<f32>>
        scf.yield
      } else {
        %16 = arith.constant 2 : i32
        %17 = arith.cmpi eq, %0, %16 : i32
        scf.if %17 {
          %18 = arith.constant dense<100.0> : tensor<16xf32>
          %19 = arith.addf %8, %18 : tensor<16xf32>
          %20 = tt.addptr %arg1, %4 : !tt.ptr<f32>, i32
          %21 = tt.splat %20 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
          %22 = tt.addptr %21, %1 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
          tt.store %22, %19 : tensor<16x!tt.ptr<f32>>
          scf.yield
        } else {
          %23 = arith.constant dense<200.0> : tensor<16xf32>
          %24 = arith.addf %8, %23 : tensor<16xf32>
          %25 = arith.constant 3 : i32
          %26 = arith.cmpi eq, %0, %25 : i32
          scf.if %26 {
            scf.yield
          } else {
            %27 = tt.addptr %arg1, %4 : !tt.ptr<f32>, i32
            %28 = tt.splat %27 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
            %29 = tt.addptr %28, %1 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
            tt.store %29, %24 : tensor<16x!tt.ptr<f32>>
            scf.yield
          }
          scf.yield
        }
        scf.yield
      }
      scf.yield
    }
    tt.return
  }
}
