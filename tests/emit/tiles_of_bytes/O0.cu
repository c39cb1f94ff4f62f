// QuantizeLinear (map): float32[1,3,5,7] float32[] uint8[] -> uint8[1,3,5,7]
extern "C" __global__ void map_902d3541da4b(unsigned char* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1, unsigned char* __restrict__ x2) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 105) {
    const int d1 = task;
    y0[d1] = ((unsigned char)((0.0f < (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0]))) ? (((round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) < 255.0f) ? (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) : 255.0f) : 0.0f));
  }
}

// DequantizeLinear (map): uint8[1,3,5,7] float32[] uint8[] -> float32[1,3,5,7]
extern "C" __global__ void map_34de2625d987(float* __restrict__ y0, unsigned char* __restrict__ x0, unsigned char* __restrict__ x2, float* __restrict__ x1) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 105) {
    const int d1 = task;
    y0[d1] = ((((float)x0[d1]) - ((float)x2[0])) * x1[0]);
  }
}

// DequantizeLinear (map): int8[20,3,3,3] float32[] -> float32[20,3,3,3]
extern "C" __global__ void map_464317b763f8(float* __restrict__ y0, signed char* __restrict__ x0, float* __restrict__ x1) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 540) {
    const int d0 = task;
    y0[d0] = (((float)x0[d0]) * x1[0]);
  }
}

// Conv (conv): float32[1,3,5,7] float32[20,3,3,3] -> float32[1,20,5,7]
extern "C" __global__ void __launch_bounds__(32) conv_54ca571349ee(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1) {
  const int task = blockIdx.x;
  if (task < 3) {
    const int column_block = task;
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
      next_left_0 = x1[((thread % 16) + ((thread / 16) * 27))];
      next_left_1 = x1[(((thread % 16) + ((thread / 16) * 27)) + 54)];
      next_left_2 = x1[(((thread % 16) + ((thread / 16) * 27)) + 108)];
      next_left_3 = x1[(((thread % 16) + ((thread / 16) * 27)) + 162)];
      next_left_4 = x1[(((thread % 16) + ((thread / 16) * 27)) + 216)];
      next_left_5 = x1[(((thread % 16) + ((thread / 16) * 27)) + 270)];
      next_left_6 = x1[(((thread % 16) + ((thread / 16) * 27)) + 324)];
      next_left_7 = x1[(((thread % 16) + ((thread / 16) * 27)) + 378)];
      next_left_8 = x1[(((thread % 16) + ((thread / 16) * 27)) + 432)];
      next_left_9 = x1[(((thread % 16) + ((thread / 16) * 27)) + 486)];
      next_left_10 = 0.0f;
      next_left_11 = 0.0f;
      next_left_12 = 0.0f;
      next_left_13 = 0.0f;
      next_left_14 = 0.0f;
      next_left_15 = 0.0f;
      next_right_0 = ((((column_block * 16) + (thread % 16)) <= 34) ? ((((0 <= ((((column_block * 16) + (thread % 16)) / 7) - 1)) && (((((column_block * 16) + (thread % 16)) / 7) - 1) < 5)) && ((0 <= ((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1)) && (((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1) < 7))) ? x0[((((column_block * 16) + (thread % 16)) + (thread / 16)) - 8)] : 0.0f) : 0.0f);
      next_right_1 = ((((column_block * 16) + (thread % 16)) <= 34) ? ((((0 <= (((((column_block * 16) + (thread % 16)) / 7) + (((thread / 16) + 2) / 3)) - 1)) && ((((((column_block * 16) + (thread % 16)) / 7) + (((thread / 16) + 2) / 3)) - 1) < 5)) && ((0 <= (((((((((column_block * 16) + (thread % 16)) / 7) * -7) - ((((thread / 16) + 2) / 3) * 3)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1)) && ((((((((((column_block * 16) + (thread % 16)) / 7) * -7) - ((((thread / 16) + 2) / 3) * 3)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1) < 7))) ? x0[((((((((thread / 16) + 2) / 3) * 4) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 6)] : 0.0f) : 0.0f);
      next_right_2 = ((((column_block * 16) + (thread % 16)) <= 34) ? ((((((column_block * 16) + (thread % 16)) / 7) < 5) && ((0 <= (((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16))) && ((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) < 7))) ? x0[(((column_block * 16) + (thread % 16)) + (thread / 16))] : 0.0f) : 0.0f);
      next_right_3 = ((((column_block * 16) + (thread % 16)) <= 34) ? (((((((column_block * 16) + (thread % 16)) / 7) + 1) < 5) && ((0 <= ((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1)) && (((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1) < 7))) ? x0[((((column_block * 16) + (thread % 16)) + (thread / 16)) + 6)] : 0.0f) : 0.0f);
      next_right_4 = ((((column_block * 16) + (thread % 16)) <= 34) ? ((((0 <= ((((((column_block * 16) + (thread % 16)) / 7) + (((thread / 16) + 2) / 3)) - ((((thread / 16) + 8) / 9) * 3)) + 1)) && (((((((column_block * 16) + (thread % 16)) / 7) + (((thread / 16) + 2) / 3)) - ((((thread / 16) + 8) / 9) * 3)) + 1) < 5)) && ((0 <= (((((((((column_block * 16) + (thread % 16)) / 7) * -7) - ((((thread / 16) + 2) / 3) * 3)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1)) && ((((((((((column_block * 16) + (thread % 16)) / 7) * -7) - ((((thread / 16) + 2) / 3) * 3)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1) < 7))) ? x0[(((((((((thread / 16) + 2) / 3) * 4) + ((((thread / 16) + 8) / 9) * 14)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 8)] : 0.0f) : 0.0f);
      next_right_5 = ((((column_block * 16) + (thread % 16)) <= 34) ? ((((0 <= ((((column_block * 16) + (thread % 16)) / 7) - 1)) && (((((column_block * 16) + (thread % 16)) / 7) - 1) < 5)) && ((0 <= (((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16))) && ((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) < 7))) ? x0[((((column_block * 16) + (thread % 16)) + (thread / 16)) + 28)] : 0.0f) : 0.0f);
      next_right_6 = ((((column_block * 16) + (thread % 16)) <= 34) ? ((((((column_block * 16) + (thread % 16)) / 7) < 5) && ((0 <= ((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1)) && (((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1) < 7))) ? x0[((((column_block * 16) + (thread % 16)) + (thread / 16)) + 34)] : 0.0f) : 0.0f);
      next_right_7 = ((((column_block * 16) + (thread % 16)) <= 34) ? (((((((column_block * 16) + (thread % 16)) / 7) + (((thread / 16) + 2) / 3)) < 5) && ((0 <= (((((((((column_block * 16) + (thread % 16)) / 7) * -7) - ((((thread / 16) + 2) / 3) * 3)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1)) && ((((((((((column_block * 16) + (thread % 16)) / 7) * -7) - ((((thread / 16) + 2) / 3) * 3)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1) < 7))) ? x0[((((((((thread / 16) + 2) / 3) * 4) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 36)] : 0.0f) : 0.0f);
    }
    __syncthreads();
    for (int chunk = 0; chunk < 2; ++chunk) {
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
        next_left_0 = (((((chunk * 16) + (thread % 16)) + 16) <= 26) ? x1[((((chunk * 16) + (thread % 16)) + ((thread / 16) * 27)) + 16)] : 0.0f);
        next_left_1 = (((((chunk * 16) + (thread % 16)) + 16) <= 26) ? x1[((((chunk * 16) + (thread % 16)) + ((thread / 16) * 27)) + 70)] : 0.0f);
        next_left_2 = (((((chunk * 16) + (thread % 16)) + 16) <= 26) ? x1[((((chunk * 16) + (thread % 16)) + ((thread / 16) * 27)) + 124)] : 0.0f);
        next_left_3 = (((((chunk * 16) + (thread % 16)) + 16) <= 26) ? x1[((((chunk * 16) + (thread % 16)) + ((thread / 16) * 27)) + 178)] : 0.0f);
        next_left_4 = (((((chunk * 16) + (thread % 16)) + 16) <= 26) ? x1[((((chunk * 16) + (thread % 16)) + ((thread / 16) * 27)) + 232)] : 0.0f);
        next_left_5 = (((((chunk * 16) + (thread % 16)) + 16) <= 26) ? x1[((((chunk * 16) + (thread % 16)) + ((thread / 16) * 27)) + 286)] : 0.0f);
        next_left_6 = (((((chunk * 16) + (thread % 16)) + 16) <= 26) ? x1[((((chunk * 16) + (thread % 16)) + ((thread / 16) * 27)) + 340)] : 0.0f);
        next_left_7 = (((((chunk * 16) + (thread % 16)) + 16) <= 26) ? x1[((((chunk * 16) + (thread % 16)) + ((thread / 16) * 27)) + 394)] : 0.0f);
        next_left_8 = (((((chunk * 16) + (thread % 16)) + 16) <= 26) ? x1[((((chunk * 16) + (thread % 16)) + ((thread / 16) * 27)) + 448)] : 0.0f);
        next_left_9 = (((((chunk * 16) + (thread % 16)) + 16) <= 26) ? x1[((((chunk * 16) + (thread % 16)) + ((thread / 16) * 27)) + 502)] : 0.0f);
        next_left_10 = 0.0f;
        next_left_11 = 0.0f;
        next_left_12 = 0.0f;
        next_left_13 = 0.0f;
        next_left_14 = 0.0f;
        next_left_15 = 0.0f;
        next_right_0 = (((((column_block * 16) + (thread % 16)) <= 34) && ((((chunk * 16) + (thread / 16)) + 16) <= 26)) ? ((((0 <= (((((((chunk * 16) + (thread / 16)) + 1) / 3) - (((((chunk * 16) + (thread / 16)) + 7) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) + 1)) && ((((((((chunk * 16) + (thread / 16)) + 1) / 3) - (((((chunk * 16) + (thread / 16)) + 7) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) + 1) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 16)) + 1) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16))) && (((((((((((chunk * 16) + (thread / 16)) + 1) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 16)) + 1) / 3) * 4) + (((((chunk * 16) + (thread / 16)) + 7) / 9) * 14)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 42)] : 0.0f) : 0.0f);
        next_right_1 = (((((column_block * 16) + (thread % 16)) <= 34) && ((((chunk * 16) + (thread / 16)) + 18) <= 26)) ? ((((0 <= ((((((chunk * 16) + (thread / 16)) / 3) - ((((chunk * 16) + (thread / 16)) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) - 1)) && (((((((chunk * 16) + (thread / 16)) / 3) - ((((chunk * 16) + (thread / 16)) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) - 1) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 16)) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1)) && (((((((((((chunk * 16) + (thread / 16)) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1) < 7))) ? x0[((((((((((chunk * 16) + (thread / 16)) / 3) * 4) + ((((chunk * 16) + (thread / 16)) / 9) * 14)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 62)] : 0.0f) : 0.0f);
        next_right_2 = (((((column_block * 16) + (thread % 16)) <= 34) && ((((chunk * 16) + (thread / 16)) + 20) <= 26)) ? ((((0 <= (((((((chunk * 16) + (thread / 16)) + 2) / 3) - (((((chunk * 16) + (thread / 16)) + 2) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) - 1)) && ((((((((chunk * 16) + (thread / 16)) + 2) / 3) - (((((chunk * 16) + (thread / 16)) + 2) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) - 1) < 5)) && ((0 <= (((((((((((chunk * 16) + (thread / 16)) + 2) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1)) && ((((((((((((chunk * 16) + (thread / 16)) + 2) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 16)) + 2) / 3) * 4) + (((((chunk * 16) + (thread / 16)) + 2) / 9) * 14)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 64)] : 0.0f) : 0.0f);
        next_right_3 = (((((column_block * 16) + (thread % 16)) <= 34) && ((((chunk * 16) + (thread / 16)) + 22) <= 26)) ? ((((0 <= ((((((chunk * 16) + (thread / 16)) + 1) / 3) - (((((chunk * 16) + (thread / 16)) + 4) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7))) && (((((((chunk * 16) + (thread / 16)) + 1) / 3) - (((((chunk * 16) + (thread / 16)) + 4) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 16)) + 1) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16))) && (((((((((((chunk * 16) + (thread / 16)) + 1) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 16)) + 1) / 3) * 4) + (((((chunk * 16) + (thread / 16)) + 4) / 9) * 14)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 70)] : 0.0f) : 0.0f);
        next_right_4 = (((((column_block * 16) + (thread % 16)) <= 34) && ((((chunk * 16) + (thread / 16)) + 24) <= 26)) ? ((((0 <= ((((((((chunk * 16) + (thread / 16)) + 6) / 9) * -3) + (((chunk * 16) + (thread / 16)) / 3)) + (((column_block * 16) + (thread % 16)) / 7)) + 1)) && (((((((((chunk * 16) + (thread / 16)) + 6) / 9) * -3) + (((chunk * 16) + (thread / 16)) / 3)) + (((column_block * 16) + (thread % 16)) / 7)) + 1) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 16)) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1)) && (((((((((((chunk * 16) + (thread / 16)) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 16)) + 6) / 9) * 14) + ((((chunk * 16) + (thread / 16)) / 3) * 4)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 76)] : 0.0f) : 0.0f);
        next_right_5 = (((((column_block * 16) + (thread % 16)) <= 34) && ((((chunk * 16) + (thread / 16)) + 26) <= 26)) ? ((((0 <= (((((((chunk * 16) + (thread / 16)) + 2) / 3) - (((((chunk * 16) + (thread / 16)) + 8) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) + 1)) && ((((((((chunk * 16) + (thread / 16)) + 2) / 3) - (((((chunk * 16) + (thread / 16)) + 8) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) + 1) < 5)) && ((0 <= (((((((((((chunk * 16) + (thread / 16)) + 2) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1)) && ((((((((((((chunk * 16) + (thread / 16)) + 2) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 16)) + 2) / 3) * 4) + (((((chunk * 16) + (thread / 16)) + 8) / 9) * 14)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 78)] : 0.0f) : 0.0f);
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
    }
    {
      const int thread = threadIdx.x;
      if ((((thread / 4) * 4) <= 19)) {
        if ((((column_block * 16) + ((thread % 4) * 4)) <= 34)) {
          y0[(((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140))] = sums_0_0;
        }
      }
      if ((((thread / 4) * 4) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 4)) + 1) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 1)] = sums_0_1;
        }
      }
      if ((((thread / 4) * 4) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 4)) + 2) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 2)] = sums_0_2;
        }
      }
      if ((((thread / 4) * 4) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 4)) + 3) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 3)] = sums_0_3;
        }
      }
      if (((((thread / 4) * 4) + 1) <= 19)) {
        if ((((column_block * 16) + ((thread % 4) * 4)) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 35)] = sums_1_0;
        }
      }
      if (((((thread / 4) * 4) + 1) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 4)) + 1) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 36)] = sums_1_1;
        }
      }
      if (((((thread / 4) * 4) + 1) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 4)) + 2) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 37)] = sums_1_2;
        }
      }
      if (((((thread / 4) * 4) + 1) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 4)) + 3) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 38)] = sums_1_3;
        }
      }
      if (((((thread / 4) * 4) + 2) <= 19)) {
        if ((((column_block * 16) + ((thread % 4) * 4)) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 70)] = sums_2_0;
        }
      }
      if (((((thread / 4) * 4) + 2) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 4)) + 1) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 71)] = sums_2_1;
        }
      }
      if (((((thread / 4) * 4) + 2) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 4)) + 2) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 72)] = sums_2_2;
        }
      }
      if (((((thread / 4) * 4) + 2) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 4)) + 3) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 73)] = sums_2_3;
        }
      }
      if (((((thread / 4) * 4) + 3) <= 19)) {
        if ((((column_block * 16) + ((thread % 4) * 4)) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 105)] = sums_3_0;
        }
      }
      if (((((thread / 4) * 4) + 3) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 4)) + 1) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 106)] = sums_3_1;
        }
      }
      if (((((thread / 4) * 4) + 3) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 4)) + 2) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 107)] = sums_3_2;
        }
      }
      if (((((thread / 4) * 4) + 3) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 4)) + 3) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 4)) + ((thread / 4) * 140)) + 108)] = sums_3_3;
        }
      }
    }
    __syncthreads();
  }
}

// QuantizeLinear (map): float32[1,20,5,7] float32[] uint8[] -> uint8[1,20,5,7]
extern "C" __global__ void map_1276da901391(unsigned char* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1, unsigned char* __restrict__ x2) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 700) {
    const int d1 = task;
    y0[d1] = ((unsigned char)((0.0f < (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0]))) ? (((round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) < 255.0f) ? (round_even_f32((x0[d1] / x1[0])) + ((float)x2[0])) : 255.0f) : 0.0f));
  }
}
