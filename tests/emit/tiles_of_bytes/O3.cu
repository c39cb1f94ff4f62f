// exact: products are rounded before they are added
// ToInteger (map): float32[1,8,4,4] -> uint8[1,8,4,4]
extern "C" __global__ void map_3f3ca9b16d02(unsigned char* __restrict__ y0, float* __restrict__ x0) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 128) {
    const int d1 = task;
    y0[d1] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((x0[d1] / 0x1.eb851ep-6f), (-130.0f)), 125.0f))) + 130));
  }
}

// exact: products are rounded before they are added
// QuantizedConv (quantized_conv): uint8[1,8,4,4] int8[16,8,1,1] int32[16] float32[16] -> uint8[1,16,4,4]
extern "C" __global__ void __launch_bounds__(32) quantized_conv_cbfc072677db(unsigned char* __restrict__ y0, int* __restrict__ x2, unsigned char* __restrict__ x0, signed char* __restrict__ x1, float* __restrict__ x3) {
  const int task = blockIdx.x;
  if (task < 1) {
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
      next_left_0 = ((thread <= 15) ? ((int)x1[thread]) : 0);
      next_left_1 = ((thread <= 15) ? ((int)x1[(thread + 16)]) : 0);
      next_left_2 = ((thread <= 15) ? ((int)x1[(thread + 32)]) : 0);
      next_left_3 = ((thread <= 15) ? ((int)x1[(thread + 48)]) : 0);
      next_left_4 = ((thread <= 15) ? ((int)x1[(thread + 64)]) : 0);
      next_left_5 = ((thread <= 15) ? ((int)x1[(thread + 80)]) : 0);
      next_left_6 = ((thread <= 15) ? ((int)x1[(thread + 96)]) : 0);
      next_left_7 = ((thread <= 15) ? ((int)x1[(thread + 112)]) : 0);
      next_left_8 = 0;
      next_left_9 = 0;
      next_left_10 = 0;
      next_left_11 = 0;
      next_left_12 = 0;
      next_left_13 = 0;
      next_left_14 = 0;
      next_left_15 = 0;
      next_right_0 = ((int)x0[thread]);
      next_right_1 = ((int)x0[(thread + 32)]);
      next_right_2 = ((int)x0[(thread + 64)]);
      next_right_3 = ((int)x0[(thread + 96)]);
      next_right_4 = 0;
      next_right_5 = 0;
      next_right_6 = 0;
      next_right_7 = 0;
    }
    __syncthreads();
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
      next_left_0 = 0;
      next_left_1 = 0;
      next_left_2 = 0;
      next_left_3 = 0;
      next_left_4 = 0;
      next_left_5 = 0;
      next_left_6 = 0;
      next_left_7 = 0;
      next_left_8 = 0;
      next_left_9 = 0;
      next_left_10 = 0;
      next_left_11 = 0;
      next_left_12 = 0;
      next_left_13 = 0;
      next_left_14 = 0;
      next_left_15 = 0;
      next_right_0 = 0;
      next_right_1 = 0;
      next_right_2 = 0;
      next_right_3 = 0;
      next_right_4 = 0;
      next_right_5 = 0;
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
    {
      const int thread = threadIdx.x;
      y0[(((thread % 4) * 2) + ((thread / 4) * 16))] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_0_0 + x2[(thread / 4)])) * x3[(thread / 4)]), (-130.0f)), 125.0f))) + 130));
      y0[((((thread % 4) * 2) + ((thread / 4) * 16)) + 1)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_0_1 + x2[(thread / 4)])) * x3[(thread / 4)]), (-130.0f)), 125.0f))) + 130));
      y0[((((thread % 4) * 2) + ((thread / 4) * 16)) + 8)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_0_2 + x2[(thread / 4)])) * x3[(thread / 4)]), (-130.0f)), 125.0f))) + 130));
      y0[((((thread % 4) * 2) + ((thread / 4) * 16)) + 9)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_0_3 + x2[(thread / 4)])) * x3[(thread / 4)]), (-130.0f)), 125.0f))) + 130));
      y0[((((thread % 4) * 2) + ((thread / 4) * 16)) + 128)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_1_0 + x2[((thread / 4) + 8)])) * x3[((thread / 4) + 8)]), (-130.0f)), 125.0f))) + 130));
      y0[((((thread % 4) * 2) + ((thread / 4) * 16)) + 129)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_1_1 + x2[((thread / 4) + 8)])) * x3[((thread / 4) + 8)]), (-130.0f)), 125.0f))) + 130));
      y0[((((thread % 4) * 2) + ((thread / 4) * 16)) + 136)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_1_2 + x2[((thread / 4) + 8)])) * x3[((thread / 4) + 8)]), (-130.0f)), 125.0f))) + 130));
      y0[((((thread % 4) * 2) + ((thread / 4) * 16)) + 137)] = ((unsigned char)(((int)round_even_f32(min_f32(max_f32((((float)(sums_1_3 + x2[((thread / 4) + 8)])) * x3[((thread / 4) + 8)]), (-130.0f)), 125.0f))) + 130));
    }
    __syncthreads();
  }
}
