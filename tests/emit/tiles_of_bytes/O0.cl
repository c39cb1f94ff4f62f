// QuantizeLinear (map): float32[1,8,4,4] float32[] uint8[] -> uint8[1,8,4,4]
void map_a17dd7355ed4_task(__global uchar* restrict y0, __global float* restrict x0, __global float* restrict x1, __global uchar* restrict x2, const long task) {
  {
    const long d1 = task;
    y0[d1] = ((uchar)((0.0f < (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0]))) ? (((round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) < 255.0f) ? (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) : 255.0f) : 0.0f));
  }
}
__kernel void map_a17dd7355ed4(__global uchar* restrict y0, __global float* restrict x0, __global float* restrict x1, __global uchar* restrict x2) {
  map_a17dd7355ed4_task(y0, x0, x1, x2, get_global_id(0));
}

// DequantizeLinear (map): uint8[1,8,4,4] float32[] uint8[] -> float32[1,8,4,4]
void map_aa31dbbb5eb0_task(__global float* restrict y0, __global uchar* restrict x0, __global uchar* restrict x2, __global float* restrict x1, const long task) {
  {
    const long d1 = task;
    vstore16(((convert_float16(convert_int16(vload16(0, x0 + ((d1 * 16))))) - ((float)((int)x2[0]))) * x1[0]), 0, y0 + ((d1 * 16)));
  }
}
__kernel void map_aa31dbbb5eb0(__global float* restrict y0, __global uchar* restrict x0, __global uchar* restrict x2, __global float* restrict x1) {
  map_aa31dbbb5eb0_task(y0, x0, x2, x1, get_global_id(0));
}

// DequantizeLinear (map): int8[16,8,1,1] float32[] -> float32[16,8,1,1]
void map_49634606f947_task(__global float* restrict y0, __global char* restrict x0, __global float* restrict x1, const long task) {
  {
    const long d0_o = task;
    vstore16((convert_float16(convert_int16(vload16(0, x0 + ((d0_o * 16))))) * x1[0]), 0, y0 + ((d0_o * 16)));
  }
}
__kernel void map_49634606f947(__global float* restrict y0, __global char* restrict x0, __global float* restrict x1) {
  map_49634606f947_task(y0, x0, x1, get_global_id(0));
}

// Conv (conv): float32[1,8,4,4] float32[16,8,1,1] -> float32[1,16,4,4]
void conv_a25746b77dc7_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, const long task) {
  {
    const long o0 = task;
    f32x16 sum_0, sum_1, sum_2, sum_3;
    sum_0 = splat_f32x16(0.0f);
    sum_1 = splat_f32x16(0.0f);
    sum_2 = splat_f32x16(0.0f);
    sum_3 = splat_f32x16(0.0f);
    for (long c = 0; c < 8; ++c) {
      sum_0 = (sum_0 + (x0[((c * 16) + (o0 * 4))] * ((f32x16)(x1[c], x1[(c + 8)], x1[(c + 16)], x1[(c + 24)], x1[(c + 32)], x1[(c + 40)], x1[(c + 48)], x1[(c + 56)], x1[(c + 64)], x1[(c + 72)], x1[(c + 80)], x1[(c + 88)], x1[(c + 96)], x1[(c + 104)], x1[(c + 112)], x1[(c + 120)]))));
      sum_1 = (sum_1 + (x0[(((c * 16) + (o0 * 4)) + 1)] * ((f32x16)(x1[c], x1[(c + 8)], x1[(c + 16)], x1[(c + 24)], x1[(c + 32)], x1[(c + 40)], x1[(c + 48)], x1[(c + 56)], x1[(c + 64)], x1[(c + 72)], x1[(c + 80)], x1[(c + 88)], x1[(c + 96)], x1[(c + 104)], x1[(c + 112)], x1[(c + 120)]))));
      sum_2 = (sum_2 + (x0[(((c * 16) + (o0 * 4)) + 2)] * ((f32x16)(x1[c], x1[(c + 8)], x1[(c + 16)], x1[(c + 24)], x1[(c + 32)], x1[(c + 40)], x1[(c + 48)], x1[(c + 56)], x1[(c + 64)], x1[(c + 72)], x1[(c + 80)], x1[(c + 88)], x1[(c + 96)], x1[(c + 104)], x1[(c + 112)], x1[(c + 120)]))));
      sum_3 = (sum_3 + (x0[(((c * 16) + (o0 * 4)) + 3)] * ((f32x16)(x1[c], x1[(c + 8)], x1[(c + 16)], x1[(c + 24)], x1[(c + 32)], x1[(c + 40)], x1[(c + 48)], x1[(c + 56)], x1[(c + 64)], x1[(c + 72)], x1[(c + 80)], x1[(c + 88)], x1[(c + 96)], x1[(c + 104)], x1[(c + 112)], x1[(c + 120)]))));
    }
    {
      const f32x16 value = sum_0;
      y0[(o0 * 4)] = value.s0;
      y0[((o0 * 4) + 16)] = value.s1;
      y0[((o0 * 4) + 32)] = value.s2;
      y0[((o0 * 4) + 48)] = value.s3;
      y0[((o0 * 4) + 64)] = value.s4;
      y0[((o0 * 4) + 80)] = value.s5;
      y0[((o0 * 4) + 96)] = value.s6;
      y0[((o0 * 4) + 112)] = value.s7;
      y0[((o0 * 4) + 128)] = value.s8;
      y0[((o0 * 4) + 144)] = value.s9;
      y0[((o0 * 4) + 160)] = value.sa;
      y0[((o0 * 4) + 176)] = value.sb;
      y0[((o0 * 4) + 192)] = value.sc;
      y0[((o0 * 4) + 208)] = value.sd;
      y0[((o0 * 4) + 224)] = value.se;
      y0[((o0 * 4) + 240)] = value.sf;
    }
    {
      const f32x16 value = sum_1;
      y0[((o0 * 4) + 1)] = value.s0;
      y0[((o0 * 4) + 17)] = value.s1;
      y0[((o0 * 4) + 33)] = value.s2;
      y0[((o0 * 4) + 49)] = value.s3;
      y0[((o0 * 4) + 65)] = value.s4;
      y0[((o0 * 4) + 81)] = value.s5;
      y0[((o0 * 4) + 97)] = value.s6;
      y0[((o0 * 4) + 113)] = value.s7;
      y0[((o0 * 4) + 129)] = value.s8;
      y0[((o0 * 4) + 145)] = value.s9;
      y0[((o0 * 4) + 161)] = value.sa;
      y0[((o0 * 4) + 177)] = value.sb;
      y0[((o0 * 4) + 193)] = value.sc;
      y0[((o0 * 4) + 209)] = value.sd;
      y0[((o0 * 4) + 225)] = value.se;
      y0[((o0 * 4) + 241)] = value.sf;
    }
    {
      const f32x16 value = sum_2;
      y0[((o0 * 4) + 2)] = value.s0;
      y0[((o0 * 4) + 18)] = value.s1;
      y0[((o0 * 4) + 34)] = value.s2;
      y0[((o0 * 4) + 50)] = value.s3;
      y0[((o0 * 4) + 66)] = value.s4;
      y0[((o0 * 4) + 82)] = value.s5;
      y0[((o0 * 4) + 98)] = value.s6;
      y0[((o0 * 4) + 114)] = value.s7;
      y0[((o0 * 4) + 130)] = value.s8;
      y0[((o0 * 4) + 146)] = value.s9;
      y0[((o0 * 4) + 162)] = value.sa;
      y0[((o0 * 4) + 178)] = value.sb;
      y0[((o0 * 4) + 194)] = value.sc;
      y0[((o0 * 4) + 210)] = value.sd;
      y0[((o0 * 4) + 226)] = value.se;
      y0[((o0 * 4) + 242)] = value.sf;
    }
    {
      const f32x16 value = sum_3;
      y0[((o0 * 4) + 3)] = value.s0;
      y0[((o0 * 4) + 19)] = value.s1;
      y0[((o0 * 4) + 35)] = value.s2;
      y0[((o0 * 4) + 51)] = value.s3;
      y0[((o0 * 4) + 67)] = value.s4;
      y0[((o0 * 4) + 83)] = value.s5;
      y0[((o0 * 4) + 99)] = value.s6;
      y0[((o0 * 4) + 115)] = value.s7;
      y0[((o0 * 4) + 131)] = value.s8;
      y0[((o0 * 4) + 147)] = value.s9;
      y0[((o0 * 4) + 163)] = value.sa;
      y0[((o0 * 4) + 179)] = value.sb;
      y0[((o0 * 4) + 195)] = value.sc;
      y0[((o0 * 4) + 211)] = value.sd;
      y0[((o0 * 4) + 227)] = value.se;
      y0[((o0 * 4) + 243)] = value.sf;
    }
  }
}
__kernel void conv_a25746b77dc7(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1) {
  conv_a25746b77dc7_task(y0, x0, x1, get_global_id(0));
}

// QuantizeLinear (map): float32[1,16,4,4] float32[] uint8[] -> uint8[1,16,4,4]
void map_cb4d870ebe01_task(__global uchar* restrict y0, __global float* restrict x0, __global float* restrict x1, __global uchar* restrict x2, const long task) {
  {
    const long d1 = task;
    y0[d1] = ((uchar)((0.0f < (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0]))) ? (((round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) < 255.0f) ? (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) : 255.0f) : 0.0f));
  }
}
__kernel void map_cb4d870ebe01(__global uchar* restrict y0, __global float* restrict x0, __global float* restrict x1, __global uchar* restrict x2) {
  map_cb4d870ebe01_task(y0, x0, x1, x2, get_global_id(0));
}
