// Conv (conv): float32[1,8,4,4] float32[8,1,3,3] -> float32[1,8,2,2]
void conv_11c75e71819b_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, const long task) {
  {
    const long g = task / 4;
    const long o0 = (task / 2) % 2;
    const long o1 = task % 2;
    float sum;
    sum = 0.0f;
    for (long k0 = 0; k0 < 3; ++k0) {
      for (long k1 = 0; k1 < 3; ++k1) {
        sum = (sum + ((((0 <= ((k0 + (o0 * 2)) - 1)) && (0 <= ((k1 + (o1 * 2)) - 1))) ? x0[((((((g * 16) + (k0 * 4)) + k1) + (o0 * 8)) + (o1 * 2)) - 5)] : 0.0f) * x1[(((g * 9) + (k0 * 3)) + k1)]));
      }
    }
    y0[(((g * 4) + (o0 * 2)) + o1)] = sum;
  }
}
__kernel void conv_11c75e71819b(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1) {
  conv_11c75e71819b_task(y0, x0, x1, get_global_id(0));
}

// Conv (conv): float32[1,8,2,2] float32[3,8,1,1] -> float32[1,3,2,2]
void conv_8f2d56996eb3_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, const long task) {
  {
    for (long o0 = 0; o0 < 2; ++o0) {
      for (long o1_o = 0; o1_o < 1; ++o1_o) {
        f32x2 sum_0, sum_1;
        sum_0 = splat_f32x2(0.0f);
        sum_1 = splat_f32x2(0.0f);
        for (long c = 0; c < 8; ++c) {
          sum_0 = (sum_0 + (x0[((c * 4) + (o0 * 2))] * vload2(0, x1 + ((c * 16)))));
          sum_1 = (sum_1 + (x0[(((c * 4) + (o0 * 2)) + 1)] * vload2(0, x1 + ((c * 16)))));
        }
        {
          const f32x2 value = sum_0;
          y0[(o0 * 2)] = value.s0;
          y0[((o0 * 2) + 4)] = value.s1;
        }
        {
          const f32x2 value = sum_1;
          y0[((o0 * 2) + 1)] = value.s0;
          y0[((o0 * 2) + 5)] = value.s1;
        }
      }
    }
    for (long o0 = 0; o0 < 2; ++o0) {
      for (long o1_o = 0; o1_o < 1; ++o1_o) {
        float sum_0, sum_1;
        sum_0 = 0.0f;
        sum_1 = 0.0f;
        for (long c = 0; c < 8; ++c) {
          sum_0 = (sum_0 + (x0[((c * 4) + (o0 * 2))] * x1[((c * 16) + 2)]));
          sum_1 = (sum_1 + (x0[(((c * 4) + (o0 * 2)) + 1)] * x1[((c * 16) + 2)]));
        }
        y0[((o0 * 2) + 8)] = sum_0;
        y0[((o0 * 2) + 9)] = sum_1;
      }
    }
  }
}
__kernel void conv_8f2d56996eb3(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1) {
  conv_8f2d56996eb3_task(y0, x0, x1, get_global_id(0));
}
