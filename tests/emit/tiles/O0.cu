// Conv (conv): float32[1,3,5,7] float32[20,3,3,3] float32[20] -> float32[1,20,5,7]
extern "C" __global__ void __launch_bounds__(64) conv_549f65f27dd3(float* __restrict__ y0, float* __restrict__ x0, float* __restrict__ x1, float* __restrict__ x2) {
  const int task = blockIdx.x;
  if (task < 2) {
    const int column_block = task;
    __shared__ __align__(16) float left[512];
    __shared__ __align__(16) float right[512];
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
        left[thread] = (((thread % 32) <= 19) ? x1[(((chunk * 320) + (thread % 32)) + ((thread / 32) * 20))] : 0.0f);
        left[(thread + 64)] = (((thread % 32) <= 19) ? x1[((((chunk * 320) + (thread % 32)) + ((thread / 32) * 20)) + 40)] : 0.0f);
        left[(thread + 128)] = (((thread % 32) <= 19) ? x1[((((chunk * 320) + (thread % 32)) + ((thread / 32) * 20)) + 80)] : 0.0f);
        left[(thread + 192)] = (((thread % 32) <= 19) ? x1[((((chunk * 320) + (thread % 32)) + ((thread / 32) * 20)) + 120)] : 0.0f);
        left[(thread + 256)] = (((thread % 32) <= 19) ? x1[((((chunk * 320) + (thread % 32)) + ((thread / 32) * 20)) + 160)] : 0.0f);
        left[(thread + 320)] = ((((thread % 32) <= 19) && ((((chunk * 16) + (thread / 32)) + 10) <= 26)) ? x1[((((chunk * 320) + (thread % 32)) + ((thread / 32) * 20)) + 200)] : 0.0f);
        left[(thread + 384)] = ((((thread % 32) <= 19) && ((((chunk * 16) + (thread / 32)) + 12) <= 26)) ? x1[((((chunk * 320) + (thread % 32)) + ((thread / 32) * 20)) + 240)] : 0.0f);
        left[(thread + 448)] = ((((thread % 32) <= 19) && ((((chunk * 16) + (thread / 32)) + 14) <= 26)) ? x1[((((chunk * 320) + (thread % 32)) + ((thread / 32) * 20)) + 280)] : 0.0f);
        right[thread] = ((((column_block * 32) + (thread % 32)) <= 34) ? ((((0 <= ((((((chunk * 16) + (thread / 32)) / 3) - ((((chunk * 16) + (thread / 32)) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) - 1)) && (((((((chunk * 16) + (thread / 32)) / 3) - ((((chunk * 16) + (thread / 32)) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) - 1) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 32)) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 1)) && (((((((((((chunk * 16) + (thread / 32)) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 1) < 7))) ? x0[((((((((((chunk * 16) + (thread / 32)) / 3) * 4) + ((((chunk * 16) + (thread / 32)) / 9) * 14)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 8)] : 0.0f) : 0.0f);
        right[(thread + 64)] = ((((column_block * 32) + (thread % 32)) <= 34) ? ((((0 <= (((((((chunk * 16) + (thread / 32)) + 2) / 3) - (((((chunk * 16) + (thread / 32)) + 2) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) - 1)) && ((((((((chunk * 16) + (thread / 32)) + 2) / 3) - (((((chunk * 16) + (thread / 32)) + 2) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) - 1) < 5)) && ((0 <= (((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 1)) && ((((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * 4) + (((((chunk * 16) + (thread / 32)) + 2) / 9) * 14)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 6)] : 0.0f) : 0.0f);
        right[(thread + 128)] = ((((column_block * 32) + (thread % 32)) <= 34) ? ((((0 <= ((((((chunk * 16) + (thread / 32)) + 1) / 3) - (((((chunk * 16) + (thread / 32)) + 4) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7))) && (((((((chunk * 16) + (thread / 32)) + 1) / 3) - (((((chunk * 16) + (thread / 32)) + 4) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 32)) + 1) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32))) && (((((((((((chunk * 16) + (thread / 32)) + 1) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) < 7))) ? x0[((((((((((chunk * 16) + (thread / 32)) + 1) / 3) * 4) + (((((chunk * 16) + (thread / 32)) + 4) / 9) * 14)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32))] : 0.0f) : 0.0f);
        right[(thread + 192)] = ((((column_block * 32) + (thread % 32)) <= 34) ? ((((0 <= ((((((((chunk * 16) + (thread / 32)) + 6) / 9) * -3) + (((chunk * 16) + (thread / 32)) / 3)) + (((column_block * 32) + (thread % 32)) / 7)) + 1)) && (((((((((chunk * 16) + (thread / 32)) + 6) / 9) * -3) + (((chunk * 16) + (thread / 32)) / 3)) + (((column_block * 32) + (thread % 32)) / 7)) + 1) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 32)) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 1)) && (((((((((((chunk * 16) + (thread / 32)) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 32)) + 6) / 9) * 14) + ((((chunk * 16) + (thread / 32)) / 3) * 4)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 6)] : 0.0f) : 0.0f);
        right[(thread + 256)] = ((((column_block * 32) + (thread % 32)) <= 34) ? ((((0 <= (((((((chunk * 16) + (thread / 32)) + 2) / 3) - (((((chunk * 16) + (thread / 32)) + 8) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) + 1)) && ((((((((chunk * 16) + (thread / 32)) + 2) / 3) - (((((chunk * 16) + (thread / 32)) + 8) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) + 1) < 5)) && ((0 <= (((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 1)) && ((((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * 4) + (((((chunk * 16) + (thread / 32)) + 8) / 9) * 14)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 8)] : 0.0f) : 0.0f);
        right[(thread + 320)] = (((((column_block * 32) + (thread % 32)) <= 34) && ((((chunk * 16) + (thread / 32)) + 10) <= 26)) ? ((((0 <= (((((((chunk * 16) + (thread / 32)) + 1) / 3) - (((((chunk * 16) + (thread / 32)) + 1) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) - 1)) && ((((((((chunk * 16) + (thread / 32)) + 1) / 3) - (((((chunk * 16) + (thread / 32)) + 1) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) - 1) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 32)) + 1) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32))) && (((((((((((chunk * 16) + (thread / 32)) + 1) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 32)) + 1) / 3) * 4) + (((((chunk * 16) + (thread / 32)) + 1) / 9) * 14)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 28)] : 0.0f) : 0.0f);
        right[(thread + 384)] = (((((column_block * 32) + (thread % 32)) <= 34) && ((((chunk * 16) + (thread / 32)) + 12) <= 26)) ? ((((0 <= (((((((chunk * 16) + (thread / 32)) + 3) / 9) * -3) + (((chunk * 16) + (thread / 32)) / 3)) + (((column_block * 32) + (thread % 32)) / 7))) && ((((((((chunk * 16) + (thread / 32)) + 3) / 9) * -3) + (((chunk * 16) + (thread / 32)) / 3)) + (((column_block * 32) + (thread % 32)) / 7)) < 5)) && ((0 <= ((((((((((chunk * 16) + (thread / 32)) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 1)) && (((((((((((chunk * 16) + (thread / 32)) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) - 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 32)) + 3) / 9) * 14) + ((((chunk * 16) + (thread / 32)) / 3) * 4)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 34)] : 0.0f) : 0.0f);
        right[(thread + 448)] = (((((column_block * 32) + (thread % 32)) <= 34) && ((((chunk * 16) + (thread / 32)) + 14) <= 26)) ? ((((0 <= ((((((chunk * 16) + (thread / 32)) + 2) / 3) - (((((chunk * 16) + (thread / 32)) + 5) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7))) && (((((((chunk * 16) + (thread / 32)) + 2) / 3) - (((((chunk * 16) + (thread / 32)) + 5) / 9) * 3)) + (((column_block * 32) + (thread % 32)) / 7)) < 5)) && ((0 <= (((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 1)) && ((((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * -3) - ((((column_block * 32) + (thread % 32)) / 7) * 7)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 1) < 7))) ? x0[(((((((((((chunk * 16) + (thread / 32)) + 2) / 3) * 4) + (((((chunk * 16) + (thread / 32)) + 5) / 9) * 14)) + (chunk * 16)) + (column_block * 32)) + (thread % 32)) + (thread / 32)) + 36)] : 0.0f) : 0.0f);
      }
      __syncthreads();
      {
        const int thread = threadIdx.x;
        for (int depth = 0; depth < 16; ++depth) {
          sums_0_0 = (sums_0_0 + (left[((depth * 32) + ((thread / 8) * 4))] * right[((depth * 32) + ((thread % 8) * 4))]));
          sums_0_1 = (sums_0_1 + (left[((depth * 32) + ((thread / 8) * 4))] * right[(((depth * 32) + ((thread % 8) * 4)) + 1)]));
          sums_0_2 = (sums_0_2 + (left[((depth * 32) + ((thread / 8) * 4))] * right[(((depth * 32) + ((thread % 8) * 4)) + 2)]));
          sums_0_3 = (sums_0_3 + (left[((depth * 32) + ((thread / 8) * 4))] * right[(((depth * 32) + ((thread % 8) * 4)) + 3)]));
          sums_1_0 = (sums_1_0 + (left[(((depth * 32) + ((thread / 8) * 4)) + 1)] * right[((depth * 32) + ((thread % 8) * 4))]));
          sums_1_1 = (sums_1_1 + (left[(((depth * 32) + ((thread / 8) * 4)) + 1)] * right[(((depth * 32) + ((thread % 8) * 4)) + 1)]));
          sums_1_2 = (sums_1_2 + (left[(((depth * 32) + ((thread / 8) * 4)) + 1)] * right[(((depth * 32) + ((thread % 8) * 4)) + 2)]));
          sums_1_3 = (sums_1_3 + (left[(((depth * 32) + ((thread / 8) * 4)) + 1)] * right[(((depth * 32) + ((thread % 8) * 4)) + 3)]));
          sums_2_0 = (sums_2_0 + (left[(((depth * 32) + ((thread / 8) * 4)) + 2)] * right[((depth * 32) + ((thread % 8) * 4))]));
          sums_2_1 = (sums_2_1 + (left[(((depth * 32) + ((thread / 8) * 4)) + 2)] * right[(((depth * 32) + ((thread % 8) * 4)) + 1)]));
          sums_2_2 = (sums_2_2 + (left[(((depth * 32) + ((thread / 8) * 4)) + 2)] * right[(((depth * 32) + ((thread % 8) * 4)) + 2)]));
          sums_2_3 = (sums_2_3 + (left[(((depth * 32) + ((thread / 8) * 4)) + 2)] * right[(((depth * 32) + ((thread % 8) * 4)) + 3)]));
          sums_3_0 = (sums_3_0 + (left[(((depth * 32) + ((thread / 8) * 4)) + 3)] * right[((depth * 32) + ((thread % 8) * 4))]));
          sums_3_1 = (sums_3_1 + (left[(((depth * 32) + ((thread / 8) * 4)) + 3)] * right[(((depth * 32) + ((thread % 8) * 4)) + 1)]));
          sums_3_2 = (sums_3_2 + (left[(((depth * 32) + ((thread / 8) * 4)) + 3)] * right[(((depth * 32) + ((thread % 8) * 4)) + 2)]));
          sums_3_3 = (sums_3_3 + (left[(((depth * 32) + ((thread / 8) * 4)) + 3)] * right[(((depth * 32) + ((thread % 8) * 4)) + 3)]));
        }
      }
      __syncthreads();
    }
    {
      const int thread = threadIdx.x;
      if ((((thread / 8) * 4) <= 19)) {
        if ((((column_block * 32) + ((thread % 8) * 4)) <= 34)) {
          y0[(((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140))] = (sums_0_0 + x2[((thread / 8) * 4)]);
        }
      }
      if ((((thread / 8) * 4) <= 19)) {
        if (((((column_block * 32) + ((thread % 8) * 4)) + 1) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 1)] = (sums_0_1 + x2[((thread / 8) * 4)]);
        }
      }
      if ((((thread / 8) * 4) <= 19)) {
        if (((((column_block * 32) + ((thread % 8) * 4)) + 2) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 2)] = (sums_0_2 + x2[((thread / 8) * 4)]);
        }
      }
      if ((((thread / 8) * 4) <= 19)) {
        if (((((column_block * 32) + ((thread % 8) * 4)) + 3) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 3)] = (sums_0_3 + x2[((thread / 8) * 4)]);
        }
      }
      if (((((thread / 8) * 4) + 1) <= 19)) {
        if ((((column_block * 32) + ((thread % 8) * 4)) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 35)] = (sums_1_0 + x2[(((thread / 8) * 4) + 1)]);
        }
      }
      if (((((thread / 8) * 4) + 1) <= 19)) {
        if (((((column_block * 32) + ((thread % 8) * 4)) + 1) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 36)] = (sums_1_1 + x2[(((thread / 8) * 4) + 1)]);
        }
      }
      if (((((thread / 8) * 4) + 1) <= 19)) {
        if (((((column_block * 32) + ((thread % 8) * 4)) + 2) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 37)] = (sums_1_2 + x2[(((thread / 8) * 4) + 1)]);
        }
      }
      if (((((thread / 8) * 4) + 1) <= 19)) {
        if (((((column_block * 32) + ((thread % 8) * 4)) + 3) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 38)] = (sums_1_3 + x2[(((thread / 8) * 4) + 1)]);
        }
      }
      if (((((thread / 8) * 4) + 2) <= 19)) {
        if ((((column_block * 32) + ((thread % 8) * 4)) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 70)] = (sums_2_0 + x2[(((thread / 8) * 4) + 2)]);
        }
      }
      if (((((thread / 8) * 4) + 2) <= 19)) {
        if (((((column_block * 32) + ((thread % 8) * 4)) + 1) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 71)] = (sums_2_1 + x2[(((thread / 8) * 4) + 2)]);
        }
      }
      if (((((thread / 8) * 4) + 2) <= 19)) {
        if (((((column_block * 32) + ((thread % 8) * 4)) + 2) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 72)] = (sums_2_2 + x2[(((thread / 8) * 4) + 2)]);
        }
      }
      if (((((thread / 8) * 4) + 2) <= 19)) {
        if (((((column_block * 32) + ((thread % 8) * 4)) + 3) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 73)] = (sums_2_3 + x2[(((thread / 8) * 4) + 2)]);
        }
      }
      if (((((thread / 8) * 4) + 3) <= 19)) {
        if ((((column_block * 32) + ((thread % 8) * 4)) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 105)] = (sums_3_0 + x2[(((thread / 8) * 4) + 3)]);
        }
      }
      if (((((thread / 8) * 4) + 3) <= 19)) {
        if (((((column_block * 32) + ((thread % 8) * 4)) + 1) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 106)] = (sums_3_1 + x2[(((thread / 8) * 4) + 3)]);
        }
      }
      if (((((thread / 8) * 4) + 3) <= 19)) {
        if (((((column_block * 32) + ((thread % 8) * 4)) + 2) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 107)] = (sums_3_2 + x2[(((thread / 8) * 4) + 3)]);
        }
      }
      if (((((thread / 8) * 4) + 3) <= 19)) {
        if (((((column_block * 32) + ((thread % 8) * 4)) + 3) <= 34)) {
          y0[((((column_block * 32) + ((thread % 8) * 4)) + ((thread / 8) * 140)) + 108)] = (sums_3_3 + x2[(((thread / 8) * 4) + 3)]);
        }
      }
    }
    __syncthreads();
  }
}

// Relu (map): float32[1,20,5,7] -> float32[1,20,5,7]
extern "C" __global__ void map_56dc96bf1dad(float* __restrict__ y0, float* __restrict__ x0) {
  const int task = blockIdx.x * (int)blockDim.x + threadIdx.x;
  if (task < 700) {
    const int d1 = task;
    y0[d1] = max_f32(0.0f, x0[d1]);
  }
}
