// Conv (conv): float32[1,3,5,5] float32[4,3,3,3] float32[4] -> float32[1,4,5,5]
void conv_0d7e707d805a_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, __global float* restrict x2, const long task) {
  {
    const long o0 = task;
    f32x4 sum_0, sum_1, sum_2, sum_3, sum_4;
    sum_0 = splat_f32x4(0.0f);
    sum_1 = splat_f32x4(0.0f);
    sum_2 = splat_f32x4(0.0f);
    sum_3 = splat_f32x4(0.0f);
    sum_4 = splat_f32x4(0.0f);
    for (long c = 0; c < 3; ++c) {
      for (long k0 = 0; k0 < 3; ++k0) {
        sum_0 = (sum_0 + (0.0f * vload4(0, x1 + (((c * 144) + (k0 * 48))))));
        sum_1 = (sum_1 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 5)] : 0.0f) * vload4(0, x1 + (((c * 144) + (k0 * 48))))));
        sum_2 = (sum_2 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 4)] : 0.0f) * vload4(0, x1 + (((c * 144) + (k0 * 48))))));
        sum_3 = (sum_3 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 3)] : 0.0f) * vload4(0, x1 + (((c * 144) + (k0 * 48))))));
        sum_4 = (sum_4 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 2)] : 0.0f) * vload4(0, x1 + (((c * 144) + (k0 * 48))))));
        sum_0 = (sum_0 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 5)] : 0.0f) * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 16)))));
        sum_1 = (sum_1 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 4)] : 0.0f) * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 16)))));
        sum_2 = (sum_2 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 3)] : 0.0f) * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 16)))));
        sum_3 = (sum_3 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 2)] : 0.0f) * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 16)))));
        sum_4 = (sum_4 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 1)] : 0.0f) * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 16)))));
        sum_0 = (sum_0 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 4)] : 0.0f) * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 32)))));
        sum_1 = (sum_1 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 3)] : 0.0f) * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 32)))));
        sum_2 = (sum_2 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 2)] : 0.0f) * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 32)))));
        sum_3 = (sum_3 + ((((0 <= ((k0 + o0) - 1)) && (((k0 + o0) - 1) < 5)) ? x0[((((c * 25) + (k0 * 5)) + (o0 * 5)) - 1)] : 0.0f) * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 32)))));
        sum_4 = (sum_4 + (0.0f * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 32)))));
      }
    }
    {
      const f32x4 value = (sum_0 + vload4(0, x2 + (0)));
      y0[(o0 * 5)] = value.s0;
      y0[((o0 * 5) + 25)] = value.s1;
      y0[((o0 * 5) + 50)] = value.s2;
      y0[((o0 * 5) + 75)] = value.s3;
    }
    {
      const f32x4 value = (sum_1 + vload4(0, x2 + (0)));
      y0[((o0 * 5) + 1)] = value.s0;
      y0[((o0 * 5) + 26)] = value.s1;
      y0[((o0 * 5) + 51)] = value.s2;
      y0[((o0 * 5) + 76)] = value.s3;
    }
    {
      const f32x4 value = (sum_2 + vload4(0, x2 + (0)));
      y0[((o0 * 5) + 2)] = value.s0;
      y0[((o0 * 5) + 27)] = value.s1;
      y0[((o0 * 5) + 52)] = value.s2;
      y0[((o0 * 5) + 77)] = value.s3;
    }
    {
      const f32x4 value = (sum_3 + vload4(0, x2 + (0)));
      y0[((o0 * 5) + 3)] = value.s0;
      y0[((o0 * 5) + 28)] = value.s1;
      y0[((o0 * 5) + 53)] = value.s2;
      y0[((o0 * 5) + 78)] = value.s3;
    }
    {
      const f32x4 value = (sum_4 + vload4(0, x2 + (0)));
      y0[((o0 * 5) + 4)] = value.s0;
      y0[((o0 * 5) + 29)] = value.s1;
      y0[((o0 * 5) + 54)] = value.s2;
      y0[((o0 * 5) + 79)] = value.s3;
    }
  }
}
__kernel void conv_0d7e707d805a(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, __global float* restrict x2) {
  conv_0d7e707d805a_task(y0, x0, x1, x2, get_global_id(0));
}

// Relu (map): float32[1,4,5,5] -> float32[1,4,5,5]
void map_c48705b43d76_task(__global float* restrict y0, __global float* restrict x0, const long task) {
  {
    for (long d1_o = 0; d1_o < 6; ++d1_o) {
      vstore16(max_f32x16(splat_f32x16(0.0f), vload16(0, x0 + ((d1_o * 16)))), 0, y0 + ((d1_o * 16)));
    }
    vstore4(max_f32x4(splat_f32x4(0.0f), vload4(0, x0 + (96))), 0, y0 + (96));
  }
}
__kernel void map_c48705b43d76(__global float* restrict y0, __global float* restrict x0) {
  map_c48705b43d76_task(y0, x0, get_global_id(0));
}
