// ToInteger (map): float32[1,3,5,7] -> uint8[1,3,5,7]
extern "C" __global__ void map_a536e9170e90(unsigned char* __restrict__ y0, float* __restrict__ x0) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 105) {
    const int d1 = task / 35;
    const int d2 = (task / 7) % 5;
    const int d3 = task % 7;
    y0[(((d1 * 35) + (d2 * 7)) + d3)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((x0[(((d1 * 35) + (d2 * 7)) + d3)] / 0x1.eb851ep-6f), (-130.0f)), 125.0f))) + 130));
  }
}

// QuantizedConv (quantized_conv): uint8[1,3,5,7] int8[20,3,3,3] int32[20] float32[20] -> uint8[1,20,5,7]
extern "C" __global__ void __launch_bounds__(32) quantized_conv_f97c263203f3(unsigned char* __restrict__ y0, int* __restrict__ x2, unsigned char* __restrict__ x0, signed char* __restrict__ x1, float* __restrict__ x3) {
  const int task = blockIdx.x;
  if (task < 3) {
    const int column_block = task;
    __shared__ __align__(16) int left[640];
    __shared__ __align__(16) int right[384];
    int next_left_0, next_left_1, next_left_2, next_left_3, next_left_4, next_left_5, next_left_6, next_left_7, next_left_8, next_left_9, next_left_10, next_left_11, next_left_12, next_left_13, next_left_14, next_left_15;
    int next_right_0, next_right_1, next_right_2, next_right_3, next_right_4, next_right_5, next_right_6, next_right_7;
    int sums_0_0, sums_0_1, sums_0_2, sums_0_3, sums_1_0, sums_1_1, sums_1_2, sums_1_3, sums_2_0, sums_2_1, sums_2_2, sums_2_3, sums_3_0, sums_3_1, sums_3_2, sums_3_3;
    {
      const int thread = threadIdx.x;
      sums_0_0 = 0;
      sums_0_1 = 0;
      sums_0_2 = 0;
      sums_0_3 = 0;
      sums_1_0 = 0;
      sums_1_1 = 0;
      sums_1_2 = 0;
      sums_1_3 = 0;
      sums_2_0 = 0;
      sums_2_1 = 0;
      sums_2_2 = 0;
      sums_2_3 = 0;
      sums_3_0 = 0;
      sums_3_1 = 0;
      sums_3_2 = 0;
      sums_3_3 = 0;
      next_left_0 = ((thread <= 19) ? ((int)x1[thread]) : 0);
      next_left_1 = ((thread <= 19) ? ((int)x1[(thread + 20)]) : 0);
      next_left_2 = ((thread <= 19) ? ((int)x1[(thread + 40)]) : 0);
      next_left_3 = ((thread <= 19) ? ((int)x1[(thread + 60)]) : 0);
      next_left_4 = ((thread <= 19) ? ((int)x1[(thread + 80)]) : 0);
      next_left_5 = ((thread <= 19) ? ((int)x1[(thread + 100)]) : 0);
      next_left_6 = ((thread <= 19) ? ((int)x1[(thread + 120)]) : 0);
      next_left_7 = ((thread <= 19) ? ((int)x1[(thread + 140)]) : 0);
      next_left_8 = ((thread <= 19) ? ((int)x1[(thread + 160)]) : 0);
      next_left_9 = ((thread <= 19) ? ((int)x1[(thread + 180)]) : 0);
      next_left_10 = ((thread <= 19) ? ((int)x1[(thread + 200)]) : 0);
      next_left_11 = ((thread <= 19) ? ((int)x1[(thread + 220)]) : 0);
      next_left_12 = ((thread <= 19) ? ((int)x1[(thread + 240)]) : 0);
      next_left_13 = ((thread <= 19) ? ((int)x1[(thread + 260)]) : 0);
      next_left_14 = ((thread <= 19) ? ((int)x1[(thread + 280)]) : 0);
      next_left_15 = ((thread <= 19) ? ((int)x1[(thread + 300)]) : 0);
      next_right_0 = ((((column_block * 16) + (thread % 16)) <= 34) ? ((int)((((0 <= ((((column_block * 16) + (thread % 16)) / 7) - 1)) && (((((column_block * 16) + (thread % 16)) / 7) - 1) < 5)) && ((0 <= ((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1)) && (((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1) < 7))) ? x0[((((column_block * 16) + (thread % 16)) + (thread / 16)) - 8)] : 130)) : 0);
      next_right_1 = ((((column_block * 16) + (thread % 16)) <= 34) ? ((int)((((0 <= (((((column_block * 16) + (thread % 16)) / 7) + (((thread / 16) + 2) / 3)) - 1)) && ((((((column_block * 16) + (thread % 16)) / 7) + (((thread / 16) + 2) / 3)) - 1) < 5)) && ((0 <= (((((((((column_block * 16) + (thread % 16)) / 7) * -7) - ((((thread / 16) + 2) / 3) * 3)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1)) && ((((((((((column_block * 16) + (thread % 16)) / 7) * -7) - ((((thread / 16) + 2) / 3) * 3)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1) < 7))) ? x0[((((((((thread / 16) + 2) / 3) * 4) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 6)] : 130)) : 0);
      next_right_2 = ((((column_block * 16) + (thread % 16)) <= 34) ? ((int)((((((column_block * 16) + (thread % 16)) / 7) < 5) && ((0 <= (((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16))) && ((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) < 7))) ? x0[(((column_block * 16) + (thread % 16)) + (thread / 16))] : 130)) : 0);
      next_right_3 = ((((column_block * 16) + (thread % 16)) <= 34) ? ((int)(((((((column_block * 16) + (thread % 16)) / 7) + 1) < 5) && ((0 <= ((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1)) && (((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1) < 7))) ? x0[((((column_block * 16) + (thread % 16)) + (thread / 16)) + 6)] : 130)) : 0);
      next_right_4 = ((((column_block * 16) + (thread % 16)) <= 34) ? ((int)((((0 <= ((((((column_block * 16) + (thread % 16)) / 7) + (((thread / 16) + 2) / 3)) - ((((thread / 16) + 8) / 9) * 3)) + 1)) && (((((((column_block * 16) + (thread % 16)) / 7) + (((thread / 16) + 2) / 3)) - ((((thread / 16) + 8) / 9) * 3)) + 1) < 5)) && ((0 <= (((((((((column_block * 16) + (thread % 16)) / 7) * -7) - ((((thread / 16) + 2) / 3) * 3)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1)) && ((((((((((column_block * 16) + (thread % 16)) / 7) * -7) - ((((thread / 16) + 2) / 3) * 3)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1) < 7))) ? x0[(((((((((thread / 16) + 2) / 3) * 4) + ((((thread / 16) + 8) / 9) * 14)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 8)] : 130)) : 0);
      next_right_5 = ((((column_block * 16) + (thread % 16)) <= 34) ? ((int)((((0 <= ((((column_block * 16) + (thread % 16)) / 7) - 1)) && (((((column_block * 16) + (thread % 16)) / 7) - 1) < 5)) && ((0 <= (((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16))) && ((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) < 7))) ? x0[((((column_block * 16) + (thread % 16)) + (thread / 16)) + 28)] : 130)) : 0);
      next_right_6 = ((((column_block * 16) + (thread % 16)) <= 34) ? ((int)((((((column_block * 16) + (thread % 16)) / 7) < 5) && ((0 <= ((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1)) && (((((((((column_block * 16) + (thread % 16)) / 7) * -7) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1) < 7))) ? x0[((((column_block * 16) + (thread % 16)) + (thread / 16)) + 34)] : 130)) : 0);
      next_right_7 = ((((column_block * 16) + (thread % 16)) <= 34) ? ((int)(((((((column_block * 16) + (thread % 16)) / 7) + (((thread / 16) + 2) / 3)) < 5) && ((0 <= (((((((((column_block * 16) + (thread % 16)) / 7) * -7) - ((((thread / 16) + 2) / 3) * 3)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1)) && ((((((((((column_block * 16) + (thread % 16)) / 7) * -7) - ((((thread / 16) + 2) / 3) * 3)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1) < 7))) ? x0[((((((((thread / 16) + 2) / 3) * 4) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 36)] : 130)) : 0);
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
        next_left_0 = (((thread <= 19) && (((chunk * 16) + 16) <= 26)) ? ((int)x1[(((chunk * 320) + thread) + 320)]) : 0);
        next_left_1 = (((thread <= 19) && (((chunk * 16) + 17) <= 26)) ? ((int)x1[(((chunk * 320) + thread) + 340)]) : 0);
        next_left_2 = (((thread <= 19) && (((chunk * 16) + 18) <= 26)) ? ((int)x1[(((chunk * 320) + thread) + 360)]) : 0);
        next_left_3 = (((thread <= 19) && (((chunk * 16) + 19) <= 26)) ? ((int)x1[(((chunk * 320) + thread) + 380)]) : 0);
        next_left_4 = (((thread <= 19) && (((chunk * 16) + 20) <= 26)) ? ((int)x1[(((chunk * 320) + thread) + 400)]) : 0);
        next_left_5 = (((thread <= 19) && (((chunk * 16) + 21) <= 26)) ? ((int)x1[(((chunk * 320) + thread) + 420)]) : 0);
        next_left_6 = (((thread <= 19) && (((chunk * 16) + 22) <= 26)) ? ((int)x1[(((chunk * 320) + thread) + 440)]) : 0);
        next_left_7 = (((thread <= 19) && (((chunk * 16) + 23) <= 26)) ? ((int)x1[(((chunk * 320) + thread) + 460)]) : 0);
        next_left_8 = (((thread <= 19) && (((chunk * 16) + 24) <= 26)) ? ((int)x1[(((chunk * 320) + thread) + 480)]) : 0);
        next_left_9 = (((thread <= 19) && (((chunk * 16) + 25) <= 26)) ? ((int)x1[(((chunk * 320) + thread) + 500)]) : 0);
        next_left_10 = (((thread <= 19) && (((chunk * 16) + 26) <= 26)) ? ((int)x1[(((chunk * 320) + thread) + 520)]) : 0);
        next_left_11 = 0;
        next_left_12 = 0;
        next_left_13 = 0;
        next_left_14 = 0;
        next_left_15 = 0;
        next_right_0 = (((((column_block * 16) + (thread % 16)) <= 34) && ((((chunk * 16) + (thread / 16)) + 16) <= 26)) ? ((int)((((0 <= (((((((chunk * 16) + (thread / 16)) + 1) / 3) - (((((chunk * 16) + (thread / 16)) + 7) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) + 1)) && ((((((((chunk * 16) + (thread / 16)) + 1) / 3) - (((((chunk * 16) + (thread / 16)) + 7) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) + 1) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 16)) + 1) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16))) && (((((((((((chunk * 16) + (thread / 16)) + 1) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 16)) + 1) / 3) * 4) + (((((chunk * 16) + (thread / 16)) + 7) / 9) * 14)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 42)] : 130)) : 0);
        next_right_1 = (((((column_block * 16) + (thread % 16)) <= 34) && ((((chunk * 16) + (thread / 16)) + 18) <= 26)) ? ((int)((((0 <= ((((((chunk * 16) + (thread / 16)) / 3) - ((((chunk * 16) + (thread / 16)) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) - 1)) && (((((((chunk * 16) + (thread / 16)) / 3) - ((((chunk * 16) + (thread / 16)) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) - 1) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 16)) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1)) && (((((((((((chunk * 16) + (thread / 16)) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1) < 7))) ? x0[((((((((((chunk * 16) + (thread / 16)) / 3) * 4) + ((((chunk * 16) + (thread / 16)) / 9) * 14)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 62)] : 130)) : 0);
        next_right_2 = (((((column_block * 16) + (thread % 16)) <= 34) && ((((chunk * 16) + (thread / 16)) + 20) <= 26)) ? ((int)((((0 <= (((((((chunk * 16) + (thread / 16)) + 2) / 3) - (((((chunk * 16) + (thread / 16)) + 2) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) - 1)) && ((((((((chunk * 16) + (thread / 16)) + 2) / 3) - (((((chunk * 16) + (thread / 16)) + 2) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) - 1) < 5)) && ((0 <= (((((((((((chunk * 16) + (thread / 16)) + 2) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1)) && ((((((((((((chunk * 16) + (thread / 16)) + 2) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 16)) + 2) / 3) * 4) + (((((chunk * 16) + (thread / 16)) + 2) / 9) * 14)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 64)] : 130)) : 0);
        next_right_3 = (((((column_block * 16) + (thread % 16)) <= 34) && ((((chunk * 16) + (thread / 16)) + 22) <= 26)) ? ((int)((((0 <= ((((((chunk * 16) + (thread / 16)) + 1) / 3) - (((((chunk * 16) + (thread / 16)) + 4) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7))) && (((((((chunk * 16) + (thread / 16)) + 1) / 3) - (((((chunk * 16) + (thread / 16)) + 4) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 16)) + 1) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16))) && (((((((((((chunk * 16) + (thread / 16)) + 1) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 16)) + 1) / 3) * 4) + (((((chunk * 16) + (thread / 16)) + 4) / 9) * 14)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 70)] : 130)) : 0);
        next_right_4 = (((((column_block * 16) + (thread % 16)) <= 34) && ((((chunk * 16) + (thread / 16)) + 24) <= 26)) ? ((int)((((0 <= ((((((((chunk * 16) + (thread / 16)) + 6) / 9) * -3) + (((chunk * 16) + (thread / 16)) / 3)) + (((column_block * 16) + (thread % 16)) / 7)) + 1)) && (((((((((chunk * 16) + (thread / 16)) + 6) / 9) * -3) + (((chunk * 16) + (thread / 16)) / 3)) + (((column_block * 16) + (thread % 16)) / 7)) + 1) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 16)) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1)) && (((((((((((chunk * 16) + (thread / 16)) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) - 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 16)) + 6) / 9) * 14) + ((((chunk * 16) + (thread / 16)) / 3) * 4)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 76)] : 130)) : 0);
        next_right_5 = (((((column_block * 16) + (thread % 16)) <= 34) && ((((chunk * 16) + (thread / 16)) + 26) <= 26)) ? ((int)((((0 <= (((((((chunk * 16) + (thread / 16)) + 2) / 3) - (((((chunk * 16) + (thread / 16)) + 8) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) + 1)) && ((((((((chunk * 16) + (thread / 16)) + 2) / 3) - (((((chunk * 16) + (thread / 16)) + 8) / 9) * 3)) + (((column_block * 16) + (thread % 16)) / 7)) + 1) < 5)) && ((0 <= (((((((((((chunk * 16) + (thread / 16)) + 2) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1)) && ((((((((((((chunk * 16) + (thread / 16)) + 2) / 3) * -3) - ((((column_block * 16) + (thread % 16)) / 7) * 7)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 16)) + 2) / 3) * 4) + (((((chunk * 16) + (thread / 16)) + 8) / 9) * 14)) + (chunk * 16)) + (column_block * 16)) + (thread % 16)) + (thread / 16)) + 78)] : 130)) : 0);
        next_right_6 = 0;
        next_right_7 = 0;
#if __CUDA_ARCH__ >= 800
        {
          const int l0 = left[(((thread % 4) * 40) + (thread / 4))];
          const int l1 = left[((((thread % 4) * 40) + (thread / 4)) + 8)];
          const int l2 = left[((((thread % 4) * 40) + (thread / 4)) + 160)];
          const int l3 = left[((((thread % 4) * 40) + (thread / 4)) + 168)];
          const int l4 = left[((((thread % 4) * 40) + (thread / 4)) + 16)];
          const int l5 = left[((((thread % 4) * 40) + (thread / 4)) + 24)];
          const int l6 = left[((((thread % 4) * 40) + (thread / 4)) + 176)];
          const int l7 = left[((((thread % 4) * 40) + (thread / 4)) + 184)];
          const int r0 = right[((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2))];
          const int r1 = right[(((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2)) + 96)];
          const int r2 = right[(((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2)) + 8)];
          const int r3 = right[(((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2)) + 104)];
          add_exact_products_16x8x8(sums_0_0, sums_0_1, sums_1_0, sums_1_1, l0, l1, l2, l3, r0, r1);
          add_exact_products_16x8x8(sums_0_2, sums_0_3, sums_1_2, sums_1_3, l0, l1, l2, l3, r2, r3);
          add_exact_products_16x8x8(sums_2_0, sums_2_1, sums_3_0, sums_3_1, l4, l5, l6, l7, r0, r1);
          add_exact_products_16x8x8(sums_2_2, sums_2_3, sums_3_2, sums_3_3, l4, l5, l6, l7, r2, r3);
        }
        {
          const int l0 = left[((((thread % 4) * 40) + (thread / 4)) + 320)];
          const int l1 = left[((((thread % 4) * 40) + (thread / 4)) + 328)];
          const int l2 = left[((((thread % 4) * 40) + (thread / 4)) + 480)];
          const int l3 = left[((((thread % 4) * 40) + (thread / 4)) + 488)];
          const int l4 = left[((((thread % 4) * 40) + (thread / 4)) + 336)];
          const int l5 = left[((((thread % 4) * 40) + (thread / 4)) + 344)];
          const int l6 = left[((((thread % 4) * 40) + (thread / 4)) + 496)];
          const int l7 = left[((((thread % 4) * 40) + (thread / 4)) + 504)];
          const int r0 = right[(((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2)) + 192)];
          const int r1 = right[(((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2)) + 288)];
          const int r2 = right[(((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2)) + 200)];
          const int r3 = right[(((((thread % 4) * 24) + ((thread / 4) % 2)) + ((thread / 8) * 2)) + 296)];
          add_exact_products_16x8x8(sums_0_0, sums_0_1, sums_1_0, sums_1_1, l0, l1, l2, l3, r0, r1);
          add_exact_products_16x8x8(sums_0_2, sums_0_3, sums_1_2, sums_1_3, l0, l1, l2, l3, r2, r3);
          add_exact_products_16x8x8(sums_2_0, sums_2_1, sums_3_0, sums_3_1, l4, l5, l6, l7, r0, r1);
          add_exact_products_16x8x8(sums_2_2, sums_2_3, sums_3_2, sums_3_3, l4, l5, l6, l7, r2, r3);
        }
#else
        for (int depth = 0; depth < 16; ++depth) {
          sums_0_0 = (sums_0_0 + (left[((depth * 40) + (thread / 4))] * right[((depth * 24) + ((thread % 4) * 2))]));
          sums_0_1 = (sums_0_1 + (left[((depth * 40) + (thread / 4))] * right[(((depth * 24) + ((thread % 4) * 2)) + 1)]));
          sums_0_2 = (sums_0_2 + (left[((depth * 40) + (thread / 4))] * right[(((depth * 24) + ((thread % 4) * 2)) + 8)]));
          sums_0_3 = (sums_0_3 + (left[((depth * 40) + (thread / 4))] * right[(((depth * 24) + ((thread % 4) * 2)) + 9)]));
          sums_1_0 = (sums_1_0 + (left[(((depth * 40) + (thread / 4)) + 8)] * right[((depth * 24) + ((thread % 4) * 2))]));
          sums_1_1 = (sums_1_1 + (left[(((depth * 40) + (thread / 4)) + 8)] * right[(((depth * 24) + ((thread % 4) * 2)) + 1)]));
          sums_1_2 = (sums_1_2 + (left[(((depth * 40) + (thread / 4)) + 8)] * right[(((depth * 24) + ((thread % 4) * 2)) + 8)]));
          sums_1_3 = (sums_1_3 + (left[(((depth * 40) + (thread / 4)) + 8)] * right[(((depth * 24) + ((thread % 4) * 2)) + 9)]));
          sums_2_0 = (sums_2_0 + (left[(((depth * 40) + (thread / 4)) + 16)] * right[((depth * 24) + ((thread % 4) * 2))]));
          sums_2_1 = (sums_2_1 + (left[(((depth * 40) + (thread / 4)) + 16)] * right[(((depth * 24) + ((thread % 4) * 2)) + 1)]));
          sums_2_2 = (sums_2_2 + (left[(((depth * 40) + (thread / 4)) + 16)] * right[(((depth * 24) + ((thread % 4) * 2)) + 8)]));
          sums_2_3 = (sums_2_3 + (left[(((depth * 40) + (thread / 4)) + 16)] * right[(((depth * 24) + ((thread % 4) * 2)) + 9)]));
          sums_3_0 = (sums_3_0 + (left[(((depth * 40) + (thread / 4)) + 24)] * right[((depth * 24) + ((thread % 4) * 2))]));
          sums_3_1 = (sums_3_1 + (left[(((depth * 40) + (thread / 4)) + 24)] * right[(((depth * 24) + ((thread % 4) * 2)) + 1)]));
          sums_3_2 = (sums_3_2 + (left[(((depth * 40) + (thread / 4)) + 24)] * right[(((depth * 24) + ((thread % 4) * 2)) + 8)]));
          sums_3_3 = (sums_3_3 + (left[(((depth * 40) + (thread / 4)) + 24)] * right[(((depth * 24) + ((thread % 4) * 2)) + 9)]));
        }
#endif
      }
      __syncthreads();
    }
    {
      const int thread = threadIdx.x;
      if ((((column_block * 16) + ((thread % 4) * 2)) <= 34)) {
        y0[(((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35))] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_0_0 + x2[(thread / 4)])) * x3[(thread / 4)]), (-130.0f)), 125.0f))) + 130));
      }
      if (((((column_block * 16) + ((thread % 4) * 2)) + 1) <= 34)) {
        y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 1)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_0_1 + x2[(thread / 4)])) * x3[(thread / 4)]), (-130.0f)), 125.0f))) + 130));
      }
      if (((((column_block * 16) + ((thread % 4) * 2)) + 8) <= 34)) {
        y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 8)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_0_2 + x2[(thread / 4)])) * x3[(thread / 4)]), (-130.0f)), 125.0f))) + 130));
      }
      if (((((column_block * 16) + ((thread % 4) * 2)) + 9) <= 34)) {
        y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 9)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_0_3 + x2[(thread / 4)])) * x3[(thread / 4)]), (-130.0f)), 125.0f))) + 130));
      }
      if ((((column_block * 16) + ((thread % 4) * 2)) <= 34)) {
        y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 280)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_1_0 + x2[((thread / 4) + 8)])) * x3[((thread / 4) + 8)]), (-130.0f)), 125.0f))) + 130));
      }
      if (((((column_block * 16) + ((thread % 4) * 2)) + 1) <= 34)) {
        y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 281)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_1_1 + x2[((thread / 4) + 8)])) * x3[((thread / 4) + 8)]), (-130.0f)), 125.0f))) + 130));
      }
      if (((((column_block * 16) + ((thread % 4) * 2)) + 8) <= 34)) {
        y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 288)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_1_2 + x2[((thread / 4) + 8)])) * x3[((thread / 4) + 8)]), (-130.0f)), 125.0f))) + 130));
      }
      if (((((column_block * 16) + ((thread % 4) * 2)) + 9) <= 34)) {
        y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 289)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_1_3 + x2[((thread / 4) + 8)])) * x3[((thread / 4) + 8)]), (-130.0f)), 125.0f))) + 130));
      }
      if ((((thread / 4) + 16) <= 19)) {
        if ((((column_block * 16) + ((thread % 4) * 2)) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 560)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_2_0 + x2[((thread / 4) + 16)])) * x3[((thread / 4) + 16)]), (-130.0f)), 125.0f))) + 130));
        }
      }
      if ((((thread / 4) + 16) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 2)) + 1) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 561)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_2_1 + x2[((thread / 4) + 16)])) * x3[((thread / 4) + 16)]), (-130.0f)), 125.0f))) + 130));
        }
      }
      if ((((thread / 4) + 16) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 2)) + 8) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 568)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_2_2 + x2[((thread / 4) + 16)])) * x3[((thread / 4) + 16)]), (-130.0f)), 125.0f))) + 130));
        }
      }
      if ((((thread / 4) + 16) <= 19)) {
        if (((((column_block * 16) + ((thread % 4) * 2)) + 9) <= 34)) {
          y0[((((column_block * 16) + ((thread % 4) * 2)) + ((thread / 4) * 35)) + 569)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_2_3 + x2[((thread / 4) + 16)])) * x3[((thread / 4) + 16)]), (-130.0f)), 125.0f))) + 130));
        }
      }
    }
    __syncthreads();
  }
}
