module {
  tt.func public @kernel(%arg0: !tt.ptr<i8>, %arg1: !tt.ptr<i8>, %arg2: !tt.ptr<f32>) attributes {noinline = false} {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %arg0 : !tt.ptr<i8> -> tensor<64x!tt.ptr<i8>>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<i8>>, tensor<64xi32>
    %3 = tt.load %2 : tensor<64x!tt.ptr<i8>>
    %4 = tt.splat %arg1 : !tt.ptr<i8> -> tensor<64x!tt.ptr<i8>>
    %5 = tt.addptr %4, %0 : tensor<64x!tt.ptr<i8>>, tensor<64xi32>
    %6 = tt.load %5 : tensor<64x!tt.ptr<i8>>
    %7 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %8 = tt.addptr %7, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %9 = arith.addi %3, %6 : tensor<64xi8>
    %10 = arith.uitofp %9 : tensor<64xi8> to tensor<64xf32>
    tt.store %8, %10 : tensor<64x!tt.ptr<f32>>
    %11 = arith.constant 64 : i32
    %12 = tt.addptr %arg2, %11 : !tt.ptr<f32>, i32
    %13 = tt.splat %12 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %14 = tt.addptr %13, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %15 = arith.subi %3, %6 : tensor<64xi8>
    %16 = arith.uitofp %15 : tensor<64xi8> to tensor<64xf32>
    tt.store %14, %16 : tensor<64x!tt.ptr<f32>>
    %17 = arith.constant 128 : i32
    %18 = tt.addptr %arg2, %17 : !tt.ptr<f32>, i32
    %19 = tt.splat %18 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %20 = tt.addptr %19, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %21 = arith.muli %3, %6 : tensor<64xi8>
    %22 = arith.uitofp %21 : tensor<64xi8> to tensor<64xf32>
    tt.store %20, %22 : tensor<64x!tt.ptr<f32>>
    %23 = arith.constant 192 : i32
    %24 = tt.addptr %arg2, %23 : !tt.ptr<f32>, i32
    %25 = tt.splat %24 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %26 = tt.addptr %25, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %27 = arith.andi %3, %6 : tensor<64xi8>
    %28 = arith.uitofp %27 : tensor<64xi8> to tensor<64xf32>
    tt.store %26, %28 : tensor<64x!tt.ptr<f32>>
    %29 = arith.constant 256 : i32
    %30 = tt.addptr %arg2, %29 : !tt.ptr<f32>, i32
    %31 = tt.splat %30 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %32 = tt.addptr %31, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %33 = arith.ori %3, %6 : tensor<64xi8>
    %34 = arith.uitofp %33 : tensor<64xi8> to tensor<64xf32>
    tt.store %32, %34 : tensor<64x!tt.ptr<f32>>
    %35 = arith.constant 320 : i32
    %36 = tt.addptr %arg2, %35 : !tt.ptr<f32>, i32
    %37 = tt.splat %36 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %38 = tt.addptr %37, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %39 = arith.xori %3, %6 : tensor<64xi8>
    %40 = arith.uitofp %39 : tensor<64xi8> to tensor<64xf32>
    tt.store %38, %40 : tensor<64x!tt.ptr<f32>>
    %41 = arith.constant 384 : i32
    %42 = tt.addptr %arg2, %41 : !tt.ptr<f32>, i32
    %43 = tt.splat %42 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %44 = tt.addptr %43, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %45 = arith.divui %3, %6 : tensor<64xi8>
    %46 = arith.uitofp %45 : tensor<64xi8> to tensor<64xf32>
    tt.store %44, %46 : tensor<64x!tt.ptr<f32>>
    %47 = arith.constant 448 : i32
    %48 = tt.addptr %arg2, %47 : !tt.ptr<f32>, i32
    %49 = tt.splat %48 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %50 = tt.addptr %49, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %51 = arith.remui %3, %6 : tensor<64xi8>
    %52 = arith.uitofp %51 : tensor<64xi8> to tensor<64xf32>
    tt.store %50, %52 : tensor<64x!tt.ptr<f32>>
    %53 = arith.constant 512 : i32
    %54 = tt.addptr %arg2, %53 : !tt.ptr<f32>, i32
    %55 = tt.splat %54 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %56 = tt.addptr %55, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %57 = arith.maxui %3, %6 : tensor<64xi8>
    %58 = arith.uitofp %57 : tensor<64xi8> to tensor<64xf32>
    tt.store %56, %58 : tensor<64x!tt.ptr<f32>>
    %59 = arith.constant 576 : i32
    %60 = tt.addptr %arg2, %59 : !tt.ptr<f32>, i32
    %61 = tt.splat %60 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %62 = tt.addptr %61, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %63 = arith.minui %3, %6 : tensor<64xi8>
    %64 = arith.uitofp %63 : tensor<64xi8> to tensor<64xf32>
    tt.store %62, %64 : tensor<64x!tt.ptr<f32>>
    %65 = arith.constant 640 : i32
    %66 = tt.addptr %arg2, %65 : !tt.ptr<f32>, i32
    %67 = tt.splat %66 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %68 = tt.addptr %67, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %68, %58 : tensor<64x!tt.ptr<f32>>
    %69 = arith.constant 704 : i32
    %70 = tt.addptr %arg2, %69 : !tt.ptr<f32>, i32
    %71 = tt.splat %70 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %72 = tt.addptr %71, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %72, %64 : tensor<64x!tt.ptr<f32>>
    %73 = arith.constant 768 : i32
    %74 = tt.addptr %arg2, %73 : !tt.ptr<f32>, i32
    %75 = tt.splat %74 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %76 = tt.addptr %75, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %77 = arith.cmpi ult, %3, %6 : tensor<64xi8>
    %78 = arith.uitofp %77 : tensor<64xi1> to tensor<64xf32>
    tt.store %76, %78 : tensor<64x!tt.ptr<f32>>
    %79 = arith.constant 832 : i32
    %80 = tt.addptr %arg2, %79 : !tt.ptr<f32>, i32
    %81 = tt.splat %80 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %82 = tt.addptr %81, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %83 = arith.cmpi ule, %3, %6 : tensor<64xi8>
    %84 = arith.uitofp %83 : tensor<64xi1> to tensor<64xf32>
    tt.store %82, %84 : tensor<64x!tt.ptr<f32>>
    %85 = arith.constant 896 : i32
    %86 = tt.addptr %arg2, %85 : !tt.ptr<f32>, i32
    %87 = tt.splat %86 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %88 = tt.addptr %87, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %89 = arith.cmpi ugt, %3, %6 : tensor<64xi8>
    %90 = arith.uitofp %89 : tensor<64xi1> to tensor<64xf32>
    tt.store %88, %90 : tensor<64x!tt.ptr<f32>>
    %91 = arith.constant 960 : i32
    %92 = tt.addptr %arg2, %91 : !tt.ptr<f32>, i32
    %93 = tt.splat %92 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %94 = tt.addptr %93, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %95 = arith.cmpi uge, %3, %6 : tensor<64xi8>
    %96 = arith.uitofp %95 : tensor<64xi1> to tensor<64xf32>
    tt.store %94, %96 : tensor<64x!tt.ptr<f32>>
    %97 = arith.constant 1024 : i32
    %98 = tt.addptr %arg2, %97 : !tt.ptr<f32>, i32
    %99 = tt.splat %98 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %100 = tt.addptr %99, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %101 = arith.cmpi eq, %3, %6 : tensor<64xi8>
    %102 = arith.uitofp %101 : tensor<64xi1> to tensor<64xf32>
    tt.store %100, %102 : tensor<64x!tt.ptr<f32>>
    %103 = arith.constant 1088 : i32
    %104 = tt.addptr %arg2, %103 : !tt.ptr<f32>, i32
    %105 = tt.splat %104 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %106 = tt.addptr %105, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %107 = arith.cmpi ne, %3, %6 : tensor<64xi8>
    %108 = arith.uitofp %107 : tensor<64xi1> to tensor<64xf32>
    tt.store %106, %108 : tensor<64x!tt.ptr<f32>>
    %109 = arith.constant 1152 : i32
    %110 = tt.addptr %arg2, %109 : !tt.ptr<f32>, i32
    %111 = tt.splat %110 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %112 = tt.addptr %111, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %113 = arith.uitofp %3 : tensor<64xi8> to tensor<64xf32>
    %114 = arith.uitofp %6 : tensor<64xi8> to tensor<64xf32>
    %115 = arith.divf %113, %114 : tensor<64xf32>
    tt.store %112, %115 : tensor<64x!tt.ptr<f32>>
    %116 = arith.constant 1216 : i32
    %117 = tt.addptr %arg2, %116 : !tt.ptr<f32>, i32
    %118 = tt.splat %117 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %119 = tt.addptr %118, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %120 = arith.constant dense<0> : tensor<64xi8>
    %121 = arith.subi %120, %3 : tensor<64xi8>
    %122 = arith.uitofp %121 : tensor<64xi8> to tensor<64xf32>
    tt.store %119, %122 : tensor<64x!tt.ptr<f32>>
    %123 = arith.constant 1280 : i32
    %124 = tt.addptr %arg2, %123 : !tt.ptr<f32>, i32
    %125 = tt.splat %124 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %126 = tt.addptr %125, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %126, %113 : tensor<64x!tt.ptr<f32>>
    %127 = arith.constant 1344 : i32
    %128 = tt.addptr %arg2, %127 : !tt.ptr<f32>, i32
    %129 = tt.splat %128 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %130 = tt.addptr %129, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %131 = arith.select %89, %3, %6 : tensor<64xi1>, tensor<64xi8>
    %132 = arith.uitofp %131 : tensor<64xi8> to tensor<64xf32>
    tt.store %130, %132 : tensor<64x!tt.ptr<f32>>
    %133 = arith.constant 1408 : i32
    %134 = tt.addptr %arg2, %133 : !tt.ptr<f32>, i32
    %135 = tt.splat %134 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %136 = tt.addptr %135, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %137 = arith.cmpi ne, %3, %120 : tensor<64xi8>
    %138 = arith.constant dense<true> : tensor<64xi1>
    %139 = arith.xori %137, %138 : tensor<64xi1>
    %140 = arith.uitofp %139 : tensor<64xi1> to tensor<64xf32>
    tt.store %136, %140 : tensor<64x!tt.ptr<f32>>
    %141 = arith.constant 1472 : i32
    %142 = tt.addptr %arg2, %141 : !tt.ptr<f32>, i32
    %143 = tt.splat %142 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %144 = tt.addptr %143, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %145 = arith.cmpi ne, %6, %120 : tensor<64xi8>
    %146 = arith.andi %137, %145 : tensor<64xi1>
    %147 = arith.uitofp %146 : tensor<64xi1> to tensor<64xf32>
    tt.store %144, %147 : tensor<64x!tt.ptr<f32>>
    %148 = arith.constant 1536 : i32
    %149 = tt.addptr %arg2, %148 : !tt.ptr<f32>, i32
    %150 = tt.splat %149 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %151 = tt.addptr %150, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %152 = arith.ori %137, %145 : tensor<64xi1>
    %153 = arith.uitofp %152 : tensor<64xi1> to tensor<64xf32>
    tt.store %151, %153 : tensor<64x!tt.ptr<f32>>
    %154 = arith.constant 1600 : i32
    %155 = tt.addptr %arg2, %154 : !tt.ptr<f32>, i32
    %156 = tt.splat %155 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %157 = tt.addptr %156, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %158 = arith.constant dense<-1> : tensor<64xi8>
    %159 = arith.xori %3, %158 : tensor<64xi8>
    %160 = arith.uitofp %159 : tensor<64xi8> to tensor<64xf32>
    tt.store %157, %160 : tensor<64x!tt.ptr<f32>>
    %161 = arith.constant 1664 : i32
    %162 = tt.addptr %arg2, %161 : !tt.ptr<f32>, i32
    %163 = tt.splat %162 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %164 = tt.addptr %163, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %165 = arith.constant dense<1> : tensor<64xi8>
    %166 = arith.shli %3, %165 : tensor<64xi8>
    %167 = arith.uitofp %166 : tensor<64xi8> to tensor<64xf32>
    tt.store %164, %167 : tensor<64x!tt.ptr<f32>>
    %168 = arith.constant 1728 : i32
    %169 = tt.addptr %arg2, %168 : !tt.ptr<f32>, i32
    %170 = tt.splat %169 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %171 = tt.addptr %170, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %172 = arith.shrui %3, %165 : tensor<64xi8>
    %173 = arith.uitofp %172 : tensor<64xi8> to tensor<64xf32>
    tt.store %171, %173 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
