// QuantizeLinear (map): float32[1,8,4,4] float32[] uint8[] -> uint8[1,8,4,4]
extern "C" __global__ void map_a17dd7355ed4(unsigned char* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1, unsigned char* __restrict__ x2) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 128) {
    const int d1 = task;
    y0[d1] = ((unsigned char)((0.0f < (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0]))) ? (((round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) < 255.0f) ? (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) : 255.0f) : 0.0f));
  }
}

// DequantizeLinear (map): uint8[1,8,4,4] float32[] uint8[] -> float32[1,8,4,4]
extern "C" __global__ void map_aa31dbbb5eb0(float* __restrict__ y0, unsigned char* __restrict__ x0, unsigned char* __restrict__ x2, float* __restrict__ x1) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 128) {
    const int d1 = task;
    y0[d1] = ((((float)x0[d1]) - ((float)x2[0])) * x1[0]);
  }
}

// DequantizeLinear (map): int8[16,8,1,1] float32[] -> float32[16,8,1,1]
extern "C" __global__ void map_49634606f947(float* __restrict__ y0, signed char* __restrict__ x0, float* __restrict__ x1) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 128) {
    const int d0 = task;
    y0[d0] = (((float)x0[d0]) * x1[0]);
  }
}

// Conv (conv): float32[1,8,4,4] float32[16,8,1,1] -> float32[1,16,4,4]
extern "C" __global__ void __launch_bounds__(32) conv_a25746b77dc7(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1) {
  const int task = blockIdx.x;
  if (task < 1) {
    __shared__ __align__(16) float left[576];
    __shared__ __align__(16) float right[256];
    float next_left_0, next_left_1, next_left_2, next_left_3, next_left_4, next_left_5, next_left_6, next_left_7, next_left_8, next_left_9, next_left_10, next_left_11, next_left_12, next_left_13, next_left_14, next_left_15;
    float next_right_0, next_right_1, next_right_2, next_right_3, next_right_4, next_right_5, next_right_6, next_right_7;
    float sums_0_0, sums_0_1, sums_0_2, sums_0_3, sums_1_0, sums_1_1, sums_1_2, sums_1_3, sums_2_0, sums_2_1, sums_2_2, sums_2_3, sums_3_0, sums_3_1, sums_3_2, sums_3_3;
    {
      const int thread = threadIdx.x;
      sums_0_0 = 0.0f;
      sums_0_1 = 0.0f;
      sums_0_2 = 0.0f;
      sums_0_3 = 0.0f;
      sums_1_0 = 0.0f;
      sums_1_1 = 0.0f;
      sums_1_2 = 0.0f;
      sums_1_3 = 0.0f;
      sums_2_0 = 0.0f;
      sums_2_1 = 0.0f;
      sums_2_2 = 0.0f;
      sums_2_3 = 0.0f;
      sums_3_0 = 0.0f;
      sums_3_1 = 0.0f;
      sums_3_2 = 0.0f;
      sums_3_3 = 0.0f;
      next_left_0 = (((thread % 16) <= 7) ? x1[((thread % 16) + ((thread / 16) * 8))] : 0.0f);
      next_left_1 = (((thread % 16) <= 7) ? x1[(((thread % 16) + ((thread / 16) * 8)) + 16)] : 0.0f);
      next_left_2 = (((thread % 16) <= 7) ? x1[(((thread % 16) + ((thread / 16) * 8)) + 32)] : 0.0f);
      next_left_3 = (((thread % 16) <= 7) ? x1[(((thread % 16) + ((thread / 16) * 8)) + 48)] : 0.0f);
      next_left_4 = (((thread % 16) <= 7) ? x1[(((thread % 16) + ((thread / 16) * 8)) + 64)] : 0.0f);
      next_left_5 = (((thread % 16) <= 7) ? x1[(((thread % 16) + ((thread / 16) * 8)) + 80)] : 0.0f);
      next_left_6 = (((thread % 16) <= 7) ? x1[(((thread % 16) + ((thread / 16) * 8)) + 96)] : 0.0f);
      next_left_7 = (((thread % 16) <= 7) ? x1[(((thread % 16) + ((thread / 16) * 8)) + 112)] : 0.0f);
      next_left_8 = 0.0f;
      next_left_9 = 0.0f;
      next_left_10 = 0.0f;
      next_left_11 = 0.0f;
      next_left_12 = 0.0f;
      next_left_13 = 0.0f;
      next_left_14 = 0.0f;
      next_left_15 = 0.0f;
      next_right_0 = x0[thread];
      next_right_1 = x0[(thread + 32)];
      next_right_2 = x0[(thread + 64)];
      next_right_3 = x0[(thread + 96)];
      next_right_4 = 0.0f;
      next_right_5 = 0.0f;
      next_right_6 = 0.0f;
      next_right_7 = 0.0f;
    }
    __syncthreads();
    {
      const int thread = threadIdx.x;
      left[(((thread % 16) * 36) + (thread / 16))] = next_left_0;
      left[((((thread % 16) * 36) + (thread / 16)) + 2)] = next_left_1;
      left[((((thread % 16) * 36) + (thread / 16)) + 4)] = next_left_2;
      left[((((thread % 16) * 36) + (thread / 16)) + 6)] = next_left_3;
      left[((((thread % 16) * 36) + (thread / 16)) + 8)] = next_left_4;
      left[((((thread % 16) * 36) + (thread / 16)) + 10)] = next_left_5;
      left[((((thread % 16) * 36) + (thread / 16)) + 12)] = next_left_6;
      left[((((thread % 16) * 36) + (thread / 16)) + 14)] = next_left_7;
      left[((((thread % 16) * 36) + (thread / 16)) + 16)] = next_left_8;
      left[((((thread % 16) * 36) + (thread / 16)) + 18)] = next_left_9;
      left[((((thread % 16) * 36) + (thread / 16)) + 20)] = next_left_10;
      left[((((thread % 16) * 36) + (thread / 16)) + 22)] = next_left_11;
      left[((((thread % 16) * 36) + (thread / 16)) + 24)] = next_left_12;
      left[((((thread % 16) * 36) + (thread / 16)) + 26)] = next_left_13;
      left[((((thread % 16) * 36) + (thread / 16)) + 28)] = next_left_14;
      left[((((thread % 16) * 36) + (thread / 16)) + 30)] = next_left_15;
      right[thread] = next_right_0;
      right[(thread + 32)] = next_right_1;
      right[(thread + 64)] = next_right_2;
      right[(thread + 96)] = next_right_3;
      right[(thread + 128)] = next_right_4;
      right[(thread + 160)] = next_right_5;
      right[(thread + 192)] = next_right_6;
      right[(thread + 224)] = next_right_7;
    }
    __syncthreads();
    {
      const int thread = threadIdx.x;
      next_left_0 = 0.0f;
      next_left_1 = 0.0f;
      next_left_2 = 0.0f;
      next_left_3 = 0.0f;
      next_left_4 = 0.0f;
      next_left_5 = 0.0f;
      next_left_6 = 0.0f;
      next_left_7 = 0.0f;
      next_left_8 = 0.0f;
      next_left_9 = 0.0f;
      next_left_10 = 0.0f;
      next_left_11 = 0.0f;
      next_left_12 = 0.0f;
      next_left_13 = 0.0f;
      next_left_14 = 0.0f;
      next_left_15 = 0.0f;
      next_right_0 = 0.0f;
      next_right_1 = 0.0f;
      next_right_2 = 0.0f;
      next_right_3 = 0.0f;
      next_right_4 = 0.0f;
      next_right_5 = 0.0f;
      next_right_6 = 0.0f;
      next_right_7 = 0.0f;
      for (int depth = 0; depth < 16; ++depth) {
        sums_0_0 = (sums_0_0 + (left[((depth * 36) + ((thread / 4) * 4))] * right[((depth * 16) + ((thread % 4) * 4))]));
        sums_0_1 = (sums_0_1 + (left[((depth * 36) + ((thread / 4) * 4))] * right[(((depth * 16) + ((thread % 4) * 4)) + 1)]));
        sums_0_2 = (sums_0_2 + (left[((depth * 36) + ((thread / 4) * 4))] * right[(((depth * 16) + ((thread % 4) * 4)) + 2)]));
        sums_0_3 = (sums_0_3 + (left[((depth * 36) + ((thread / 4) * 4))] * right[(((depth * 16) + ((thread % 4) * 4)) + 3)]));
        sums_1_0 = (sums_1_0 + (left[(((depth * 36) + ((thread / 4) * 4)) + 1)] * right[((depth * 16) + ((thread % 4) * 4))]));
        sums_1_1 = (sums_1_1 + (left[(((depth * 36) + ((thread / 4) * 4)) + 1)] * right[(((depth * 16) + ((thread % 4) * 4)) + 1)]));
        sums_1_2 = (sums_1_2 + (left[(((depth * 36) + ((thread / 4) * 4)) + 1)] * right[(((depth * 16) + ((thread % 4) * 4)) + 2)]));
        sums_1_3 = (sums_1_3 + (left[(((depth * 36) + ((thread / 4) * 4)) + 1)] * right[(((depth * 16) + ((thread % 4) * 4)) + 3)]));
        sums_2_0 = (sums_2_0 + (left[(((depth * 36) + ((thread / 4) * 4)) + 2)] * right[((depth * 16) + ((thread % 4) * 4))]));
        sums_2_1 = (sums_2_1 + (left[(((depth * 36) + ((thread / 4) * 4)) + 2)] * right[(((depth * 16) + ((thread % 4) * 4)) + 1)]));
        sums_2_2 = (sums_2_2 + (left[(((depth * 36) + ((thread / 4) * 4)) + 2)] * right[(((depth * 16) + ((thread % 4) * 4)) + 2)]));
        sums_2_3 = (sums_2_3 + (left[(((depth * 36) + ((thread / 4) * 4)) + 2)] * right[(((depth * 16) + ((thread % 4) * 4)) + 3)]));
        sums_3_0 = (sums_3_0 + (left[(((depth * 36) + ((thread / 4) * 4)) + 3)] * right[((depth * 16) + ((thread % 4) * 4))]));
        sums_3_1 = (sums_3_1 + (left[(((depth * 36) + ((thread / 4) * 4)) + 3)] * right[(((depth * 16) + ((thread % 4) * 4)) + 1)]));
        sums_3_2 = (sums_3_2 + (left[(((depth * 36) + ((thread / 4) * 4)) + 3)] * right[(((depth * 16) + ((thread % 4) * 4)) + 2)]));
        sums_3_3 = (sums_3_3 + (left[(((depth * 36) + ((thread / 4) * 4)) + 3)] * right[(((depth * 16) + ((thread % 4) * 4)) + 3)]));
      }
    }
    __syncthreads();
    {
      const int thread = threadIdx.x;
      if ((((thread / 4) * 4) <= 15)) {
        y0[(((thread % 4) * 4) + ((thread / 4) * 64))] = sums_0_0;
      }
      if ((((thread / 4) * 4) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 1)] = sums_0_1;
      }
      if ((((thread / 4) * 4) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 2)] = sums_0_2;
      }
      if ((((thread / 4) * 4) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 3)] = sums_0_3;
      }
      if (((((thread / 4) * 4) + 1) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 16)] = sums_1_0;
      }
      if (((((thread / 4) * 4) + 1) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 17)] = sums_1_1;
      }
      if (((((thread / 4) * 4) + 1) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 18)] = sums_1_2;
      }
      if (((((thread / 4) * 4) + 1) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 19)] = sums_1_3;
      }
      if (((((thread / 4) * 4) + 2) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 32)] = sums_2_0;
      }
      if (((((thread / 4) * 4) + 2) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 33)] = sums_2_1;
      }
      if (((((thread / 4) * 4) + 2) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 34)] = sums_2_2;
      }
      if (((((thread / 4) * 4) + 2) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 35)] = sums_2_3;
      }
      if (((((thread / 4) * 4) + 3) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 48)] = sums_3_0;
      }
      if (((((thread / 4) * 4) + 3) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 49)] = sums_3_1;
      }
      if (((((thread / 4) * 4) + 3) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 50)] = sums_3_2;
      }
      if (((((thread / 4) * 4) + 3) <= 15)) {
        y0[((((thread % 4) * 4) + ((thread / 4) * 64)) + 51)] = sums_3_3;
      }
    }
    __syncthreads();
  }
}

// QuantizeLinear (map): float32[1,16,4,4] float32[] uint8[] -> uint8[1,16,4,4]
extern "C" __global__ void map_cb4d870ebe01(unsigned char* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1, unsigned char* __restrict__ x2) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 256) {
    const int d1 = task;
    y0[d1] = ((unsigned char)((0.0f < (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0]))) ? (((round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) < 255.0f) ? (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) : 255.0f) : 0.0f));
  }
}
