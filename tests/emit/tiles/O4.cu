// Fused (conv): float32[1,3,5,7] float32[20,3,3,3] float32[20] -> float32[1,20,5,7]
extern "C" __global__ void __launch_bounds__(64) conv_8d85c3b9b5de(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1, float* __restrict__ x2) {
  const int task = blockIdx.x;
  if (task < 2) {
    const int column_block = task;
    __shared__ __align__(16) float left[640];
    __shared__ __align__(16) float right[640];
    float sums_0_0, sums_0_1, sums_0_2, sums_0_3, sums_1_0, sums_1_1, sums_1_2, sums_1_3, sums_2_0, sums_2_1, sums_2_2, sums_2_3, sums_3_0, sums_3_1, sums_3_2, sums_3_3;
    {
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
    }
    __syncthreads();
    for (int chunk = 0; chunk < 2; ++chunk) {
      {
        const int thread = threadIdx.x;
        left[((thread % 32) + ((thread / 32) * 40))] = (((thread % 32) <= 19) ? x1[(((chunk * 320) + (thread % 32)) + ((thread / 32) * 20))] : 0.0f);
        left[(((thread % 32) + ((thread / 32) * 40)) + 80)] = (((thread % 32) <= 19) ? x1[((((chunk * 320) + (thread % 32)) + ((thread / 32) * 20)) + 40)] : 0.0f);
        left[(((thread % 32) + ((thread / 32) * 40)) + 160)] = (((thread % 32) <= 19) ? x1[((((chunk * 320) + (thread % 32)) + ((thread / 32) * 20)) + 80)] : 0.0f);
        left[(((thread % 32) + ((thread / 32) * 40)) + 240)] = (((thread % 32) <= 19) ? x1[((((chunk * 320) + (thread % 32)) + ((thread / 32) * 20)) + 120)] : 0.0f);
        left[(((thread % 32) + ((thread / 32) * 40)) + 320)] = (((thread % 32) <= 19) ? x1[((((chunk * 320) + (thread % 32)) + ((thread / 32) * 20)) + 160)] : 0.0f);
        left[(((thread % 32) + ((thread / 32) * 40)) + 400)] = ((((thread % 32) <= 19) && ((((chunk * 16) + (thread / 32)) + 10) <= 26)) ? x1[((((chunk * 320) + (thread % 32)) + ((thread / 32) * 20)) + 200)] : 0.0f);
        left[(((thread % 32) + ((thread / 32) * 40)) + 480)] = ((((thread % 32) <= 19) && ((((chunk * 16) + (thread / 32)) + 12) <= 26)) ? x1[((((chunk * 320) + (thread % 32)) + ((thread / 32) * 20)) + 240)] : 0.0f);
        left[(((thread % 32) + ((thread / 32) * 40)) + 560)] = ((((thread % 32) <= 19) && ((((chunk * 16) + (thread / 32)) + 14) <= 26)) ? x1[((((chunk * 320) + (thread % 32)) + ((thread / 32) * 20)) + 280)] : 0.0f);
        right[((thread % 32) + ((thread / 32) * 40))] = ((((column_block * 32) + (thread % 32)) <= 34) ? ((((0 <= ((((((chunk * 16) + (thread / 32)) / 3) - ((((chunk * 16) + (thread / 32)) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) - 1)) && (((((((chunk * 16) + (thread / 32)) / 3) - ((((chunk * 16) + (thread / 32)) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) - 1) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 32)) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 1)) && (((((((((((chunk * 16) + (thread / 32)) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 1) < 7))) ? x0[((((((((((chunk * 16) + (thread / 32)) / 3) * 4) + ((((chunk * 16) + (thread / 32)) / 9) * 14)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 8)] : 0.0f) : 0.0f);
        right[(((thread % 32) + ((thread / 32) * 40)) + 80)] = ((((column_block * 32) + (thread % 32)) <= 34) ? ((((0 <= (((((((chunk * 16) + (thread / 32)) + 2) / 3) - (((((chunk * 16) + (thread / 32)) + 2) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) - 1)) && ((((((((chunk * 16) + (thread / 32)) + 2) / 3) - (((((chunk * 16) + (thread / 32)) + 2) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) - 1) < 5)) && ((0 <= (((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 1)) && ((((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * 4) + (((((chunk * 16) + (thread / 32)) + 2) / 9) * 14)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 6)] : 0.0f) : 0.0f);
        right[(((thread % 32) + ((thread / 32) * 40)) + 160)] = ((((column_block * 32) + (thread % 32)) <= 34) ? ((((0 <= ((((((chunk * 16) + (thread / 32)) + 1) / 3) - (((((chunk * 16) + (thread / 32)) + 4) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7))) && (((((((chunk * 16) + (thread / 32)) + 1) / 3) - (((((chunk * 16) + (thread / 32)) + 4) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 32)) + 1) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32))) && (((((((((((chunk * 16) + (thread / 32)) + 1) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) < 7))) ? x0[((((((((((chunk * 16) + (thread / 32)) + 1) / 3) * 4) + (((((chunk * 16) + (thread / 32)) + 4) / 9) * 14)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32))] : 0.0f) : 0.0f);
        right[(((thread % 32) + ((thread / 32) * 40)) + 240)] = ((((column_block * 32) + (thread % 32)) <= 34) ? ((((0 <= ((((((((chunk * 16) + (thread / 32)) + 6) / 9) * -3) + (((chunk * 16) + (thread / 32)) / 3)) + (((column_block * 32) + (thread % 32)) / 7)) + 1)) && (((((((((chunk * 16) + (thread / 32)) + 6) / 9) * -3) + (((chunk * 16) + (thread / 32)) / 3)) + (((column_block * 32) + (thread % 32)) / 7)) + 1) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 32)) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 1)) && (((((((((((chunk * 16) + (thread / 32)) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 32)) + 6) / 9) * 14) + ((((chunk * 16) + (thread / 32)) / 3) * 4)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 6)] : 0.0f) : 0.0f);
        right[(((thread % 32) + ((thread / 32) * 40)) + 320)] = ((((column_block * 32) + (thread % 32)) <= 34) ? ((((0 <= (((((((chunk * 16) + (thread / 32)) + 2) / 3) - (((((chunk * 16) + (thread / 32)) + 8) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) + 1)) && ((((((((chunk * 16) + (thread / 32)) + 2) / 3) - (((((chunk * 16) + (thread / 32)) + 8) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) + 1) < 5)) && ((0 <= (((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 1)) && ((((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * 4) + (((((chunk * 16) + (thread / 32)) + 8) / 9) * 14)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 8)] : 0.0f) : 0.0f);
        right[(((thread % 32) + ((thread / 32) * 40)) + 400)] = (((((column_block * 32) + (thread % 32)) <= 34) && ((((chunk * 16) + (thread / 32)) + 10) <= 26)) ? ((((0 <= (((((((chunk * 16) + (thread / 32)) + 1) / 3) - (((((chunk * 16) + (thread / 32)) + 1) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) - 1)) && ((((((((chunk * 16) + (thread / 32)) + 1) / 3) - (((((chunk * 16) + (thread / 32)) + 1) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) - 1) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 32)) + 1) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32))) && (((((((((((chunk * 16) + (thread / 32)) + 1) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 32)) + 1) / 3) * 4) + (((((chunk * 16) + (thread / 32)) + 1) / 9) * 14)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 28)] : 0.0f) : 0.0f);
        right[(((thread % 32) + ((thread / 32) * 40)) + 480)] = (((((column_block * 32) + (thread % 32)) <= 34) && ((((chunk * 16) + (thread / 32)) + 12) <= 26)) ? ((((0 <= (((((((chunk * 16) + (thread / 32)) + 3) / 9) * -3) + (((chunk * 16) + (thread / 32)) / 3)) + (((column_block * 32) + (thread % 32)) / 7))) && ((((((((chunk * 16) + (thread / 32)) + 3) / 9) * -3) + (((chunk * 16) + (thread / 32)) / 3)) + (((column_block * 32) + (thread % 32)) / 7)) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 32)) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 1)) && (((((((((((chunk * 16) + (thread / 32)) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 32)) + 3) / 9) * 14) + ((((chunk * 16) + (thread / 32)) / 3) * 4)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 34)] : 0.0f) : 0.0f);
        right[(((thread % 32) + ((thread / 32) * 40)) + 560)] = (((((column_block * 32) + (thread % 32)) <= 34) && ((((chunk * 16) + (thread / 32)) + 14) <= 26)) ? ((((0 <= ((((((chunk * 16) + (thread / 32)) + 2) / 3) - (((((chunk * 16) + (thread / 32)) + 5) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7))) && (((((((chunk * 16) + (thread / 32)) + 2) / 3) - (((((chunk * 16) + (thread / 32)) + 5) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) < 5)) && ((0 <= (((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 1)) && ((((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * 4) + (((((chunk * 16) + (thread / 32)) + 5) / 9) * 14)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 36)] : 0.0f) : 0.0f);
      }
      __syncthreads();
      {
        const int thread = threadIdx.x;
#if __CUDA_ARCH__ >= 800
        {
          const float l0 = left[((((thread % 32) % 4) * 40) + ((thread % 32) / 4))];
          const float l1 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 8)];
          const float l2 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 160)];
          const float l3 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 168)];
          const float l4 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 16)];
          const float l5 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 24)];
          const float l6 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 176)];
          const float l7 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 184)];
          const float r0 = right[((((((thread % 32) % 4) * 40) + (((thread % 32) / 4) % 2)) + (((thread % 32) / 8) * 2)) + ((thread / 32) * 16))];
          const float r1 = right[(((((((thread % 32) % 4) * 40) + (((thread % 32) / 4) % 2)) + (((thread % 32) / 8) * 2)) + ((thread / 32) * 16)) + 160)];
          const float r2 = right[(((((((thread % 32) % 4) * 40) + (((thread % 32) / 4) % 2)) + (((thread % 32) / 8) * 2)) + ((thread / 32) * 16)) + 8)];
          const float r3 = right[(((((((thread % 32) % 4) * 40) + (((thread % 32) / 4) % 2)) + (((thread % 32) / 8) * 2)) + ((thread / 32) * 16)) + 168)];
          add_products_16x8x8(sums_0_0, sums_0_1, sums_1_0, sums_1_1, l0, l1, l2, l3, r0, r1);
          add_products_16x8x8(sums_0_2, sums_0_3, sums_1_2, sums_1_3, l0, l1, l2, l3, r2, r3);
          add_products_16x8x8(sums_2_0, sums_2_1, sums_3_0, sums_3_1, l4, l5, l6, l7, r0, r1);
          add_products_16x8x8(sums_2_2, sums_2_3, sums_3_2, sums_3_3, l4, l5, l6, l7, r2, r3);
        }
        {
          const float l0 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 320)];
          const float l1 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 328)];
          const float l2 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 480)];
          const float l3 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 488)];
          const float l4 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 336)];
          const float l5 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 344)];
          const float l6 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 496)];
          const float l7 = left[(((((thread % 32) % 4) * 40) + ((thread % 32) / 4)) + 504)];
          const float r0 = right[(((((((thread % 32) % 4) * 40) + (((thread % 32) / 4) % 2)) + (((thread % 32) / 8) * 2)) + ((thread / 32) * 16)) + 320)];
          const float r1 = right[(((((((thread % 32) % 4) * 40) + (((thread % 32) / 4) % 2)) + (((thread % 32) / 8) * 2)) + ((thread / 32) * 16)) + 480)];
          const float r2 = right[(((((((thread % 32) % 4) * 40) + (((thread % 32) / 4) % 2)) + (((thread % 32) / 8) * 2)) + ((thread / 32) * 16)) + 328)];
          const float r3 = right[(((((((thread % 32) % 4) * 40) + (((thread % 32) / 4) % 2)) + (((thread % 32) / 8) * 2)) + ((thread / 32) * 16)) + 488)];
          add_products_16x8x8(sums_0_0, sums_0_1, sums_1_0, sums_1_1, l0, l1, l2, l3, r0, r1);
          add_products_16x8x8(sums_0_2, sums_0_3, sums_1_2, sums_1_3, l0, l1, l2, l3, r2, r3);
          add_products_16x8x8(sums_2_0, sums_2_1, sums_3_0, sums_3_1, l4, l5, l6, l7, r0, r1);
          add_products_16x8x8(sums_2_2, sums_2_3, sums_3_2, sums_3_3, l4, l5, l6, l7, r2, r3);
        }
#else
        for (int depth = 0; depth < 16; ++depth) {
          sums_0_0 = fmaf(left[((depth * 40) + ((thread % 32) / 4))], right[(((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16))], sums_0_0);
          sums_0_1 = fmaf(left[((depth * 40) + ((thread % 32) / 4))], right[((((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 1)], sums_0_1);
          sums_0_2 = fmaf(left[((depth * 40) + ((thread % 32) / 4))], right[((((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 8)], sums_0_2);
          sums_0_3 = fmaf(left[((depth * 40) + ((thread % 32) / 4))], right[((((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 9)], sums_0_3);
          sums_1_0 = fmaf(left[(((depth * 40) + ((thread % 32) / 4)) + 8)], right[(((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16))], sums_1_0);
          sums_1_1 = fmaf(left[(((depth * 40) + ((thread % 32) / 4)) + 8)], right[((((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 1)], sums_1_1);
          sums_1_2 = fmaf(left[(((depth * 40) + ((thread % 32) / 4)) + 8)], right[((((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 8)], sums_1_2);
          sums_1_3 = fmaf(left[(((depth * 40) + ((thread % 32) / 4)) + 8)], right[((((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 9)], sums_1_3);
          sums_2_0 = fmaf(left[(((depth * 40) + ((thread % 32) / 4)) + 16)], right[(((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16))], sums_2_0);
          sums_2_1 = fmaf(left[(((depth * 40) + ((thread % 32) / 4)) + 16)], right[((((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 1)], sums_2_1);
          sums_2_2 = fmaf(left[(((depth * 40) + ((thread % 32) / 4)) + 16)], right[((((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 8)], sums_2_2);
          sums_2_3 = fmaf(left[(((depth * 40) + ((thread % 32) / 4)) + 16)], right[((((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 9)], sums_2_3);
          sums_3_0 = fmaf(left[(((depth * 40) + ((thread % 32) / 4)) + 24)], right[(((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16))], sums_3_0);
          sums_3_1 = fmaf(left[(((depth * 40) + ((thread % 32) / 4)) + 24)], right[((((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 1)], sums_3_1);
          sums_3_2 = fmaf(left[(((depth * 40) + ((thread % 32) / 4)) + 24)], right[((((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 8)], sums_3_2);
          sums_3_3 = fmaf(left[(((depth * 40) + ((thread % 32) / 4)) + 24)], right[((((depth * 40) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 9)], sums_3_3);
        }
#endif
      }
      __syncthreads();
    }
    {
      const int thread = threadIdx.x;
      if (((((column_block * 32) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) <= 34)) {
        y0[((((column_block * 32) + (((thread % 32) % 4) * 2)) + (((thread % 32) / 4) * 35)) + ((thread / 32) * 16))] = max_f32(0.0f, (sums_0_0 + x2[((thread % 32) / 4)]));
      }
      if ((((((column_block * 32) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 1) <= 34)) {
        y0[(((((column_block * 32) + (((thread % 32) % 4) * 2)) + (((thread % 32) / 4) * 35)) + ((thread / 32) * 16)) + 1)] = max_f32(0.0f, (sums_0_1 + x2[((thread % 32) / 4)]));
      }
      if ((((((column_block * 32) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 8) <= 34)) {
        y0[(((((column_block * 32) + (((thread % 32) % 4) * 2)) + (((thread % 32) / 4) * 35)) + ((thread / 32) * 16)) + 8)] = max_f32(0.0f, (sums_0_2 + x2[((thread % 32) / 4)]));
      }
      if ((((((column_block * 32) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 9) <= 34)) {
        y0[(((((column_block * 32) + (((thread % 32) % 4) * 2)) + (((thread % 32) / 4) * 35)) + ((thread / 32) * 16)) + 9)] = max_f32(0.0f, (sums_0_3 + x2[((thread % 32) / 4)]));
      }
      if (((((column_block * 32) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) <= 34)) {
        y0[(((((column_block * 32) + (((thread % 32) % 4) * 2)) + (((thread % 32) / 4) * 35)) + ((thread / 32) * 16)) + 280)] = max_f32(0.0f, (sums_1_0 + x2[(((thread % 32) / 4) + 8)]));
      }
      if ((((((column_block * 32) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 1) <= 34)) {
        y0[(((((column_block * 32) + (((thread % 32) % 4) * 2)) + (((thread % 32) / 4) * 35)) + ((thread / 32) * 16)) + 281)] = max_f32(0.0f, (sums_1_1 + x2[(((thread % 32) / 4) + 8)]));
      }
      if ((((((column_block * 32) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 8) <= 34)) {
        y0[(((((column_block * 32) + (((thread % 32) % 4) * 2)) + (((thread % 32) / 4) * 35)) + ((thread / 32) * 16)) + 288)] = max_f32(0.0f, (sums_1_2 + x2[(((thread % 32) / 4) + 8)]));
      }
      if ((((((column_block * 32) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 9) <= 34)) {
        y0[(((((column_block * 32) + (((thread % 32) % 4) * 2)) + (((thread % 32) / 4) * 35)) + ((thread / 32) * 16)) + 289)] = max_f32(0.0f, (sums_1_3 + x2[(((thread % 32) / 4) + 8)]));
      }
      if (((((thread % 32) / 4) + 16) <= 19)) {
        if (((((column_block * 32) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) <= 34)) {
          y0[(((((column_block * 32) + (((thread % 32) % 4) * 2)) + (((thread % 32) / 4) * 35)) + ((thread / 32) * 16)) + 560)] = max_f32(0.0f, (sums_2_0 + x2[(((thread % 32) / 4) + 16)]));
        }
      }
      if (((((thread % 32) / 4) + 16) <= 19)) {
        if ((((((column_block * 32) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 1) <= 34)) {
          y0[(((((column_block * 32) + (((thread % 32) % 4) * 2)) + (((thread % 32) / 4) * 35)) + ((thread / 32) * 16)) + 561)] = max_f32(0.0f, (sums_2_1 + x2[(((thread % 32) / 4) + 16)]));
        }
      }
      if (((((thread % 32) / 4) + 16) <= 19)) {
        if ((((((column_block * 32) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 8) <= 34)) {
          y0[(((((column_block * 32) + (((thread % 32) % 4) * 2)) + (((thread % 32) / 4) * 35)) + ((thread / 32) * 16)) + 568)] = max_f32(0.0f, (sums_2_2 + x2[(((thread % 32) / 4) + 16)]));
        }
      }
      if (((((thread % 32) / 4) + 16) <= 19)) {
        if ((((((column_block * 32) + (((thread % 32) % 4) * 2)) + ((thread / 32) * 16)) + 9) <= 34)) {
          y0[(((((column_block * 32) + (((thread % 32) % 4) * 2)) + (((thread % 32) / 4) * 35)) + ((thread / 32) * 16)) + 569)] = max_f32(0.0f, (sums_2_3 + x2[(((thread % 32) / 4) + 16)]));
        }
      }
    }
    __syncthreads();
  }
}
