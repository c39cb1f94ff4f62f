// Fused (conv): float32[1,3,5,7] float32[20,3,3,3] float32[20] -> float32[1,20,5,7]
extern "C" __global__ void __launch_bounds__(32) conv_8d85c3b9b5de(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1, float* __restrict__ x2) {
  const int task = blockIdx.x;
  if (task < 3) {
    const int column_block = task;
    __shared__ __align__(16) float left[640];
    __shared__ __align__(16) float right[384];
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
      next_left_0 = ((thread <= 19) ? x1[thread] : 0.0f);
      next_left_1 = ((thread <= 19) ? x1[(thread + 20)] : 0.0f);
      next_left_2 = ((thread <= 19) ? x1[(thread + 40)] : 0.0f);
      next_left_3 = ((thread <= 19) ? x1[(thread + 60)] : 0.0f);
      next_left_4 = ((thread <= 19) ? x1[(thread + 80)] : 0.0f);
      next_left_5 = ((thread <= 19) ? x1[(thread + 100)] : 0.0f);
      next_left_6 = ((thread <= 19) ? x1[(thread + 120)] : 0.0f);
      next_left_7 = ((thread <= 19) ? x1[(thread + 140)] : 0.0f);
      next_left_8 = ((thread <= 19) ? x1[(thread + 160)] : 0.0f);
      next_left_9 = ((thread <= 19) ? x1[(thread + 180)] : 0.0f);
      next_left_10 = ((thread <= 19) ? x1[(thread + 200)] : 0.0f);
      next_left_11 = ((thread <= 19) ? x1[(thread + 220)] : 0.0f);
      next_left_12 = ((thread <= 19) ? x1[(thread + 240)] : 0.0f);
      next_left_13 = ((thread <= 19) ? x1[(thread + 260)] : 0.0f);
      next_left_14 = ((thread <= 19) ? x1[(thread + 280)] : 0.0f);
      next_left_15 = ((thread <= 19) ? x1[(thread + 300)] : 0.0f);
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
        left[thread] = next_left_0;
        left[(thread + 40)] = next_left_1;
        left[(thread + 80)] = next_left_2;
        left[(thread + 120)] = next_left_3;
        left[(thread + 160)] = next_left_4;
        left[(thread + 200)] = next_left_5;
        left[(thread + 240)] = next_left_6;
        left[(thread + 280)] = next_left_7;
        left[(thread + 320)] = next_left_8;
        left[(thread + 360)] = next_left_9;
        left[(thread + 400)] = next_left_10;
        left[(thread + 440)] = next_left_11;
        left[(thread + 480)] = next_left_12;
        left[(thread + 520)] = next_left_13;
        left[(thread + 560)] = next_left_14;
        left[(thread + 600)] = next_left_15;
        right[((thread % 16) + ((thread / 16) * 24))] = next_right_0;
        right[(((thread % 16) + ((thread / 16) * 24)) + 48)] = next_right_1;
        right[(((thread % 16) + ((thread / 16) * 24)) + 96)] = next_right_2;
        right[(((thread % 16) + ((thread / 16) * 24)) + 144)] = next_right_3;
        right[(((thread % 16) + ((thread / 16) * 24)) + 192)] = next_right_4;
        right[(((thread % 16) + ((thread / 16) * 24)) + 240)] = next_right_5;
        right[(((thread % 16) + ((thread / 16) * 24)) + 288)] = next_right_6;
        right[(((thread % 16) + ((thread / 16) * 24)) + 336)] = next_right_7;
      }
      __syncthreads();
      {
        const int thread = threadIdx.x;
        next_left_0 = (((thread <= 19) && (((chunk * 16) + 16) <= 26)) ? x1[(((chunk * 320) + thread) + 320)] : 0.0f);
        next_left_1 = (((thread <= 19) && (((chunk * 16) + 17) <= 26)) ? x1[(((chunk * 320) + thread) + 340)] : 0.0f);
        next_left_2 = (((thread <= 19) && (((chunk * 16) + 18) <= 26)) ? x1[(((chunk * 320) + thread) + 360)] : 0.0f);
        next_left_3 = (((thread <= 19) && (((chunk * 16) + 19) <= 26)) ? x1[(((chunk * 320) + thread) + 380)] : 0.0f);
        next_left_4 = (((thread <= 19) && (((chunk * 16) + 20) <= 26)) ? x1[(((chunk * 320) + thread) + 400)] : 0.0f);
        next_left_5 = (((thread <= 19) && (((chunk * 16) + 21) <= 26)) ? x1[(((chunk * 320) + thread) + 420)] : 0.0f);
        next_left_6 = (((thread <= 19) && (((chunk * 16) + 22) <= 26)) ? x1[(((chunk * 320) + thread) + 440)] : 0.0f);
        next_left_7 = (((thread <= 19) && (((chunk * 16) + 23) <= 26)) ? x1[(((chunk * 320) + thread) + 460)] : 0.0f);
        next_left_8 = (((thread <= 19) && (((chunk * 16) + 24) <= 26)) ? x1[(((chunk * 320) + thread) + 480)] : 0.0f);
        next_left_9 = (((thread <= 19) && (((chunk * 16) + 25) <= 26)) ? x1[(((chunk * 320) + thread) + 500)] : 0.0f);
        next_left_10 = (((thread <= 19) && (((chunk * 16) + 26) <= 26)) ? x1[(((chunk * 320) + thread) + 520)] : 0.0f);
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
#if __CUDA_ARCH__ >= 800
        {
          const float l0 = left[(((thread % 4) * 40) + (thread / 4))];
          const float l1 = left[((((thread % 4) * 40) + (thread / 4)) + 8)];
          const float l2 = left[((((thread % 4) * 40) + (thread / 4)) + 160)];
          const float l3 = left[((((thread % 4) * 40) + (thread / 4)) + 168)];
          const float l4 = left[((((thread % 4) * 40) + (thread / 4)) + 16)];
          const float l5 = left[((((thread % 4) * 40) + (thread / 4)) + 24)];
          const float l6 = left[((((thread % 4) * 40) + (thread / 4)) + 176)];
          const float l7 = left[((((thread % 4) * 40) + (thread / 4)) + 184)];
          const float r0 = right[((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2))];
          const float r1 = right[(((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2)) + 96)];
          const float r2 = right[(((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2)) + 8)];
          const float r3 = right[(((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2)) + 104)];
          add_products_16x8x8(sums_0_0, sums_0_1, sums_1_0, sums_1_1, l0, l1, l2, l3, r0, r1);
          add_products_16x8x8(sums_0_2, sums_0_3, sums_1_2, sums_1_3, l0, l1, l2, l3, r2, r3);
          add_products_16x8x8(sums_2_0, sums_2_1, sums_3_0, sums_3_1, l4, l5, l6, l7, r0, r1);
          add_products_16x8x8(sums_2_2, sums_2_3, sums_3_2, sums_3_3, l4, l5, l6, l7, r2, r3);
        }
        {
          const float l0 = left[((((thread % 4) * 40) + (thread / 4)) + 320)];
          const float l1 = left[((((thread % 4) * 40) + (thread / 4)) + 328)];
          const float l2 = left[((((thread % 4) * 40) + (thread / 4)) + 480)];
          const float l3 = left[((((thread % 4) * 40) + (thread / 4)) + 488)];
          const float l4 = left[((((thread % 4) * 40) + (thread / 4)) + 336)];
          const float l5 = left[((((thread % 4) * 40) + (thread / 4)) + 344)];
          const float l6 = left[((((thread % 4) * 40) + (thread / 4)) + 496)];
          const float l7 = left[((((thread % 4) * 40) + (thread / 4)) + 504)];
          const float r0 = right[(((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2)) + 192)];
          const float r1 = right[(((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2)) + 288)];
          const float r2 = right[(((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2)) + 200)];
          const float r3 = right[(((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2)) + 296)];
          add_products_16x8x8(sums_0_0, sums_0_1, sums_1_0, sums_1_1, l0, l1, l2, l3, r0, r1);
          add_products_16x8x8(sums_0_2, sums_0_3, sums_1_2, sums_1_3, l0, l1, l2, l3, r2, r3);
          add_products_16x8x8(sums_2_0, sums_2_1, sums_3_0, sums_3_1, l4, l5, l6, l7, r0, r1);
          add_products_16x8x8(sums_2_2, sums_2_3, sums_3_2, sums_3_3, l4, l5, l6, l7, r2, r3);
        }
#else
        for (int depth = 0; depth < 16; ++depth) {
          sums_0_0 = fmaf(left[((depth * 40) + (thread / 4))], right[((depth * 24) + ((thread % 4) * 2))], sums_0_0);
          sums_0_1 = fmaf(left[((depth * 40) + (thread / 4))], right[(((depth * 24) + ((thread % 4) * 2)) + 1)], sums_0_1);
          sums_0_2 = fmaf(left[((depth * 40) + (thread / 4))], right[(((depth * 24) + ((thread % 4) * 2)) + 8)], sums_0_2);
          sums_0_3 = fmaf(left[((depth * 40) + (thread / 4))], right[(((depth * 24) + ((thread % 4) * 2)) + 9)], sums_0_3);
          sums_1_0 = fmaf(left[(((depth * 40) + (thread / 4)) + 8)], right[((depth * 24) + ((thread % 4) * 2))], sums_1_0);
          sums_1_1 = fmaf(left[(((depth * 40) + (thread / 4)) + 8)], right[(((depth * 24) + ((thread % 4) * 2)) + 1)], sums_1_1);
          sums_1_2 = fmaf(left[(((depth * 40) + (thread / 4)) + 8)], right[(((depth * 24) + ((thread % 4) * 2)) + 8)], sums_1_2);
          sums_1_3 = fmaf(left[(((depth * 40) + (thread / 4)) + 8)], right[(((depth * 24) + ((thread % 4) * 2)) + 9)], sums_1_3);
          sums_2_0 = fmaf(left[(((depth * 40) + (thread / 4)) + 16)], right[((depth * 24) + ((thread % 4) * 2))], sums_2_0);
          sums_2_1 = fmaf(left[(((depth * 40) + (thread / 4)) + 16)], right[(((depth * 24) + ((thread % 4) * 2)) + 1)], sums_2_1);
          sums_2_2 = fmaf(left[(((depth * 40) + (thread / 4)) + 16)], right[(((depth * 24) + ((thread % 4) * 2)) + 8)], sums_2_2);
          sums_2_3 = fmaf(left[(((depth * 40) + (thread / 4)) + 16)], right[(((depth * 24) + ((thread % 4) * 2)) + 9)], sums_2_3);
          sums_3_0 = fmaf(left[(((depth * 40) + (thread / 4)) + 24)], right[((depth * 24) + ((thread % 4) * 2))], sums_3_0);
          sums_3_1 = fmaf(left[(((depth * 40) + (thread / 4)) + 24)], right[(((depth * 24) + ((thread % 4) * 2)) + 1)], sums_3_1);
          sums_3_2 = fmaf(left[(((depth * 40) + (thread / 4)) + 24)], right[(((depth * 24) + ((thread % 4) * 2)) + 8)], sums_3_2);
          sums_3_3 = fmaf(left[(((depth * 40) + (thread / 4)) + 24)], right[(((depth * 24) + ((thread % 4) * 2)) + 9)], sums_3_3);
        }
#endif
      }
      __syncthreads();
    }
    {
      const int thread = threadIdx.x;
      if ((((column_block * 16) + ((thread % 4) * 2)) <= 34)) {
        y0[(((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35))] = max_f32(0.0f, (sums_0_0 + x2[(thread / 4)]));
      }
      if (((((column_block * 16) + ((thread % 4) * 2)) + 1) <= 34)) {
        y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 1)] = max_f32(0.0f, (sums_0_1 + x2[(thread / 4)]));
      }
      if (((((column_block * 16) + ((thread % 4) * 2)) + 8) <= 34)) {
        y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 8)] = max_f32(0.0f, (sums_0_2 + x2[(thread / 4)]));
      }
      if (((((column_block * 16) + ((thread % 4) * 2)) + 9) <= 34)) {
        y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 9)] = max_f32(0.0f, (sums_0_3 + x2[(thread / 4)]));
      }
      if ((((column_block * 16) + ((thread % 4) * 2)) <= 34)) {
        y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 280)] = max_f32(0.0f, (sums_1_0 + x2[((thread / 4) + 8)]));
      }
      if (((((column_block * 16) + ((thread % 4) * 2)) + 1) <= 34)) {
        y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 281)] = max_f32(0.0f, (sums_1_1 + x2[((thread / 4) + 8)]));
      }
      if (((((column_block * 16) + ((thread % 4) * 2)) + 8) <= 34)) {
        y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 288)] = max_f32(0.0f, (sums_1_2 + x2[((thread / 4) + 8)]));
      }
      if (((((column_block * 16) + ((thread % 4) * 2)) + 9) <= 34)) {
        y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 289)] = max_f32(0.0f, (sums_1_3 + x2[((thread / 4) + 8)]));
      }
      if ((((thread / 4) + 16) <= 19)) {
        if ((((column_block * 16) + ((thread % 4) * 2)) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 560)] = max_f32(0.0f, (sums_2_0 + x2[((thread / 4) + 16)]));
        }
      }
      if ((((thread / 4) + 16) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 2)) + 1) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 561)] = max_f32(0.0f, (sums_2_1 + x2[((thread / 4) + 16)]));
        }
      }
      if ((((thread / 4) + 16) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 2)) + 8) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 568)] = max_f32(0.0f, (sums_2_2 + x2[((thread / 4) + 16)]));
        }
      }
      if ((((thread / 4) + 16) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 2)) + 9) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 569)] = max_f32(0.0f, (sums_2_3 + x2[((thread / 4) + 16)]));
        }
      }
    }
    __syncthreads();
  }
}
