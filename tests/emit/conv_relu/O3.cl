// zero border of float32[1,3,5,5] layout h2+1+1,h3+1+1
void border_24d952a497db_task(__global float* restrict y0, const long task) {
  {
    for (long d1 = 0; d1 < 3; ++d1) {
      for (long d3 = 0; d3 < 7; ++d3) {
        y0[((d1 * 49) + d3)] = 0.0f;
      }
    }
    for (long d1 = 0; d1 < 3; ++d1) {
      for (long d3 = 0; d3 < 7; ++d3) {
        y0[(((d1 * 49) + d3) + 42)] = 0.0f;
      }
    }
    for (long d1 = 0; d1 < 3; ++d1) {
      for (long d2 = 0; d2 < 5; ++d2) {
        y0[(((d1 * 49) + (d2 * 7)) + 7)] = 0.0f;
      }
    }
    for (long d1 = 0; d1 < 3; ++d1) {
      for (long d2 = 0; d2 < 5; ++d2) {
        y0[(((d1 * 49) + (d2 * 7)) + 13)] = 0.0f;
      }
    }
  }
}
__kernel void border_24d952a497db(__global float* restrict y0) {
  border_24d952a497db_task(y0, get_global_id(0));
}

// Identity (map): float32[1,3,5,5] -> float32[1,3,5,5]
void map_f9a9f2b29290_task(__global float* restrict y0, __global float* restrict x0, const long task) {
  {
    const long d1 = task / 5;
    const long d2 = task % 5;
    vstore4(vload4(0, x0 + (((d1 * 25) + (d2 * 5)))), 0, y0 + ((((d1 * 49) + (d2 * 7)) + 8)));
    y0[(((d1 * 49) + (d2 * 7)) + 12)] = x0[(((d1 * 25) + (d2 * 5)) + 4)];
  }
}
__kernel void map_f9a9f2b29290(__global float* restrict y0, __global float* restrict x0) {
  map_f9a9f2b29290_task(y0, x0, get_global_id(0));
}

// Fused (conv): float32[1,3,5,5] float32[4,3,3,3] float32[4] -> float32[1,4,5,5]
void conv_8e13145ea6ed_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, __global float* restrict x2, const long task) {
  {
    const long o0 = task;
    f32x4 sum_0, sum_1, sum_2, sum_3, sum_4;
    sum_0 = vload4(0, x2 + (0));
    sum_1 = vload4(0, x2 + (0));
    sum_2 = vload4(0, x2 + (0));
    sum_3 = vload4(0, x2 + (0));
    sum_4 = vload4(0, x2 + (0));
    for (long c = 0; c < 3; ++c) {
      for (long k0 = 0; k0 < 3; ++k0) {
        PREFETCH(x0 + (((((c * 49) + (k0 * 7)) + (o0 * 7)) + 7)), 2);
        sum_0 = (x0[(((c * 49) + (k0 * 7)) + (o0 * 7))] * vload4(0, x1 + (((c * 144) + (k0 * 48)))) + sum_0);
        sum_1 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 1)] * vload4(0, x1 + (((c * 144) + (k0 * 48)))) + sum_1);
        sum_2 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 2)] * vload4(0, x1 + (((c * 144) + (k0 * 48)))) + sum_2);
        sum_3 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 3)] * vload4(0, x1 + (((c * 144) + (k0 * 48)))) + sum_3);
        sum_4 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 4)] * vload4(0, x1 + (((c * 144) + (k0 * 48)))) + sum_4);
        sum_0 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 1)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 16))) + sum_0);
        sum_1 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 2)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 16))) + sum_1);
        sum_2 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 3)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 16))) + sum_2);
        sum_3 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 4)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 16))) + sum_3);
        sum_4 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 5)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 16))) + sum_4);
        sum_0 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 2)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 32))) + sum_0);
        sum_1 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 3)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 32))) + sum_1);
        sum_2 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 4)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 32))) + sum_2);
        sum_3 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 5)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 32))) + sum_3);
        sum_4 = (x0[((((c * 49) + (k0 * 7)) + (o0 * 7)) + 6)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 32))) + sum_4);
      }
    }
    {
      const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_0);
      y0[(o0 * 5)] = value.s0;
      y0[((o0 * 5) + 25)] = value.s1;
      y0[((o0 * 5) + 50)] = value.s2;
      y0[((o0 * 5) + 75)] = value.s3;
    }
    {
      const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_1);
      y0[((o0 * 5) + 1)] = value.s0;
      y0[((o0 * 5) + 26)] = value.s1;
      y0[((o0 * 5) + 51)] = value.s2;
      y0[((o0 * 5) + 76)] = value.s3;
    }
    {
      const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_2);
      y0[((o0 * 5) + 2)] = value.s0;
      y0[((o0 * 5) + 27)] = value.s1;
      y0[((o0 * 5) + 52)] = value.s2;
      y0[((o0 * 5) + 77)] = value.s3;
    }
    {
      const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_3);
      y0[((o0 * 5) + 3)] = value.s0;
      y0[((o0 * 5) + 28)] = value.s1;
      y0[((o0 * 5) + 53)] = value.s2;
      y0[((o0 * 5) + 78)] = value.s3;
    }
    {
      const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_4);
      y0[((o0 * 5) + 4)] = value.s0;
      y0[((o0 * 5) + 29)] = value.s1;
      y0[((o0 * 5) + 54)] = value.s2;
      y0[((o0 * 5) + 79)] = value.s3;
    }
  }
}
__kernel void conv_8e13145ea6ed(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, __global float* restrict x2) {
  conv_8e13145ea6ed_task(y0, x0, x1, x2, get_global_id(0));
}
