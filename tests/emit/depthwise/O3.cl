// zero border of float32[1,8,4,4] layout 1/16,h2+1+0,h3+1+0
void border_6124edfc29c9_task(__global float* restrict y0, const long task) {
  {
    for (long d3 = 0; d3 < 5; ++d3) {
      vstore16(splat_f32x16(0.0f), 0, y0 + ((d3 * 16)));
    }
    for (long d2 = 0; d2 < 4; ++d2) {
      vstore16(splat_f32x16(0.0f), 0, y0 + (((d2 * 80) + 80)));
    }
  }
}
__kernel void border_6124edfc29c9(__global float* restrict y0) {
  border_6124edfc29c9_task(y0, get_global_id(0));
}

// Identity (map): float32[1,8,4,4] -> float32[1,8,4,4]
void map_105a5f3ef42e_task(__global float* restrict y0, __global float* restrict x0, const long task) {
  {
    const long d2 = task / 8;
    const long d1 = task % 8;
    for (long d3 = 0; d3 < 4; ++d3) {
      y0[(((d1 + (d2 * 80)) + (d3 * 16)) + 96)] = x0[(((d1 * 16) + (d2 * 4)) + d3)];
    }
  }
}
__kernel void map_105a5f3ef42e(__global float* restrict y0, __global float* restrict x0) {
  map_105a5f3ef42e_task(y0, x0, get_global_id(0));
}

// Conv (conv): float32[1,8,4,4] float32[8,1,3,3] -> float32[1,8,2,2]
void conv_8271e8d99b5a_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, const long task) {
  {
    const long o0 = task;
    f32x16 sum_0, sum_1;
    sum_0 = splat_f32x16(0.0f);
    sum_1 = splat_f32x16(0.0f);
    sum_0 = (vload16(0, x0 + ((o0 * 160))) * vload16(0, x1 + (0)) + sum_0);
    sum_1 = (vload16(0, x0 + (((o0 * 160) + 32))) * vload16(0, x1 + (0)) + sum_1);
    sum_0 = (vload16(0, x0 + (((o0 * 160) + 16))) * vload16(0, x1 + (16)) + sum_0);
    sum_1 = (vload16(0, x0 + (((o0 * 160) + 48))) * vload16(0, x1 + (16)) + sum_1);
    sum_0 = (vload16(0, x0 + (((o0 * 160) + 32))) * vload16(0, x1 + (32)) + sum_0);
    sum_1 = (vload16(0, x0 + (((o0 * 160) + 64))) * vload16(0, x1 + (32)) + sum_1);
    sum_0 = (vload16(0, x0 + (((o0 * 160) + 80))) * vload16(0, x1 + (48)) + sum_0);
    sum_1 = (vload16(0, x0 + (((o0 * 160) + 112))) * vload16(0, x1 + (48)) + sum_1);
    sum_0 = (vload16(0, x0 + (((o0 * 160) + 96))) * vload16(0, x1 + (64)) + sum_0);
    sum_1 = (vload16(0, x0 + (((o0 * 160) + 128))) * vload16(0, x1 + (64)) + sum_1);
    sum_0 = (vload16(0, x0 + (((o0 * 160) + 112))) * vload16(0, x1 + (80)) + sum_0);
    sum_1 = (vload16(0, x0 + (((o0 * 160) + 144))) * vload16(0, x1 + (80)) + sum_1);
    sum_0 = (vload16(0, x0 + (((o0 * 160) + 160))) * vload16(0, x1 + (96)) + sum_0);
    sum_1 = (vload16(0, x0 + (((o0 * 160) + 192))) * vload16(0, x1 + (96)) + sum_1);
    sum_0 = (vload16(0, x0 + (((o0 * 160) + 176))) * vload16(0, x1 + (112)) + sum_0);
    sum_1 = (vload16(0, x0 + (((o0 * 160) + 208))) * vload16(0, x1 + (112)) + sum_1);
    sum_0 = (vload16(0, x0 + (((o0 * 160) + 192))) * vload16(0, x1 + (128)) + sum_0);
    sum_1 = (vload16(0, x0 + (((o0 * 160) + 224))) * vload16(0, x1 + (128)) + sum_1);
    vstore16(sum_0, 0, y0 + ((o0 * 32)));
    vstore16(sum_1, 0, y0 + (((o0 * 32) + 16)));
  }
}
__kernel void conv_8271e8d99b5a(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1) {
  conv_8271e8d99b5a_task(y0, x0, x1, get_global_id(0));
}

// Conv (conv): float32[1,8,2,2] float32[3,8,1,1] -> float32[1,3,2,2]
void conv_f5bfd8928b9a_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, const long task) {
  {
    for (long o0 = 0; o0 < 2; ++o0) {
      for (long o1_o = 0; o1_o < 1; ++o1_o) {
        f32x2 sum_0, sum_1;
        sum_0 = splat_f32x2(0.0f);
        sum_1 = splat_f32x2(0.0f);
        for (long c = 0; c < 8; ++c) {
          sum_0 = (x0[(c + (o0 * 32))] * vload2(0, x1 + ((c * 16))) + sum_0);
          sum_1 = (x0[((c + (o0 * 32)) + 16)] * vload2(0, x1 + ((c * 16))) + sum_1);
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
          sum_0 = (x0[(c + (o0 * 32))] * x1[((c * 16) + 2)] + sum_0);
          sum_1 = (x0[((c + (o0 * 32)) + 16)] * x1[((c * 16) + 2)] + sum_1);
        }
        y0[((o0 * 2) + 8)] = sum_0;
        y0[((o0 * 2) + 9)] = sum_1;
      }
    }
  }
}
__kernel void conv_f5bfd8928b9a(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1) {
  conv_f5bfd8928b9a_task(y0, x0, x1, get_global_id(0));
}
