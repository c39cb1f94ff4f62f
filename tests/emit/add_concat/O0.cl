// Add (map): float32[1,2,3,2] float32[2,1,1] -> float32[1,2,3,2]
void map_277725b6e136_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, const long task) {
  {
    const long d1 = task;
    vstore4((vload4(0, x0 + ((d1 * 6))) + x1[d1]), 0, y0 + ((d1 * 6)));
    vstore2((vload2(0, x0 + (((d1 * 6) + 4))) + x1[d1]), 0, y0 + (((d1 * 6) + 4)));
  }
}
__kernel void map_277725b6e136(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1) {
  map_277725b6e136_task(y0, x0, x1, get_global_id(0));
}

// Tanh (map): float32[1,2,3,2] -> float32[1,2,3,2]
void map_8180e2f972a0_task(__global float* restrict y0, __global float* restrict x0, const long task) {
  {
    vstore8(tanh_f32x8(vload8(0, x0 + (0))), 0, y0 + (0));
    vstore4(tanh_f32x4(vload4(0, x0 + (8))), 0, y0 + (8));
  }
}
__kernel void map_8180e2f972a0(__global float* restrict y0, __global float* restrict x0) {
  map_8180e2f972a0_task(y0, x0, get_global_id(0));
}

// Concat (map): float32[1,2,3,2] float32[1,2,3,2] -> float32[1,4,3,2]
void map_461f3cdee0cc_task(__global float* restrict y0, __global float* restrict x0, const long task) {
  {
    vstore8(vload8(0, x0 + (0)), 0, y0 + (0));
    vstore4(vload4(0, x0 + (8)), 0, y0 + (8));
  }
}
__kernel void map_461f3cdee0cc(__global float* restrict y0, __global float* restrict x0) {
  map_461f3cdee0cc_task(y0, x0, get_global_id(0));
}

// Concat (map): float32[1,2,3,2] float32[1,2,3,2] -> float32[1,4,3,2]
void map_f854df3a3801_task(__global float* restrict y0, __global float* restrict x1, const long task) {
  {
    vstore8(vload8(0, x1 + (0)), 0, y0 + (12));
    vstore4(vload4(0, x1 + (8)), 0, y0 + (20));
  }
}
__kernel void map_f854df3a3801(__global float* restrict y0, __global float* restrict x1) {
  map_f854df3a3801_task(y0, x1, get_global_id(0));
}
