// zero border of float32[1,3,5,7] layout h2+1+1,h3+1+1
void border_25f2c4b70ccd_task(__global float* restrict y0, const long task) {
  {
    for (long d1 = 0; d1 < 3; ++d1) {
      for (long d3 = 0; d3 < 9; ++d3) {
        y0[((d1 * 63) + d3)] = 0.0f;
      }
    }
    for (long d1 = 0; d1 < 3; ++d1) {
      for (long d3 = 0; d3 < 9; ++d3) {
        y0[(((d1 * 63) + d3) + 54)] = 0.0f;
      }
    }
    for (long d1 = 0; d1 < 3; ++d1) {
      for (long d2 = 0; d2 < 5; ++d2) {
        y0[(((d1 * 63) + (d2 * 9)) + 9)] = 0.0f;
      }
    }
    for (long d1 = 0; d1 < 3; ++d1) {
      for (long d2 = 0; d2 < 5; ++d2) {
        y0[(((d1 * 63) + (d2 * 9)) + 17)] = 0.0f;
      }
    }
  }
}
__kernel void border_25f2c4b70ccd(__global float* restrict y0) {
  border_25f2c4b70ccd_task(y0, get_global_id(0));
}

// Identity (map): float32[1,3,5,7] -> float32[1,3,5,7]
void map_6a3724012d81_task(__global float* restrict y0, __global float* restrict x0, const long task) {
  {
    const long d1 = task / 5;
    const long d2 = task % 5;
    vstore4(vload4(0, x0 + (((d1 * 35) + (d2 * 7)))), 0, y0 + ((((d1 * 63) + (d2 * 9)) + 10)));
    vstore2(vload2(0, x0 + ((((d1 * 35) + (d2 * 7)) + 4))), 0, y0 + ((((d1 * 63) + (d2 * 9)) + 14)));
    y0[(((d1 * 63) + (d2 * 9)) + 16)] = x0[(((d1 * 35) + (d2 * 7)) + 6)];
  }
}
__kernel void map_6a3724012d81(__global float* restrict y0, __global float* restrict x0) {
  map_6a3724012d81_task(y0, x0, get_global_id(0));
}

// Fused (conv): float32[1,3,5,7] float32[20,3,3,3] float32[20] -> float32[1,20,5,7]
void conv_784819dc324b_task(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, __global float* restrict x2, const long task) {
  {
    for (long o0 = 0; o0 < 5; ++o0) {
      for (long o1_o = 0; o1_o < 1; ++o1_o) {
        f32x16 sum_0, sum_1, sum_2, sum_3, sum_4, sum_5, sum_6;
        sum_0 = vload16(0, x2 + (0));
        sum_1 = vload16(0, x2 + (0));
        sum_2 = vload16(0, x2 + (0));
        sum_3 = vload16(0, x2 + (0));
        sum_4 = vload16(0, x2 + (0));
        sum_5 = vload16(0, x2 + (0));
        sum_6 = vload16(0, x2 + (0));
        for (long c = 0; c < 3; ++c) {
          for (long k0 = 0; k0 < 3; ++k0) {
            PREFETCH(x0 + (((((c * 63) + (k0 * 9)) + (o0 * 9)) + 9)), 2);
            sum_0 = (x0[(((c * 63) + (k0 * 9)) + (o0 * 9))] * vload16(0, x1 + (((c * 144) + (k0 * 48)))) + sum_0);
            sum_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 1)] * vload16(0, x1 + (((c * 144) + (k0 * 48)))) + sum_1);
            sum_2 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * vload16(0, x1 + (((c * 144) + (k0 * 48)))) + sum_2);
            sum_3 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * vload16(0, x1 + (((c * 144) + (k0 * 48)))) + sum_3);
            sum_4 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * vload16(0, x1 + (((c * 144) + (k0 * 48)))) + sum_4);
            sum_5 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * vload16(0, x1 + (((c * 144) + (k0 * 48)))) + sum_5);
            sum_6 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * vload16(0, x1 + (((c * 144) + (k0 * 48)))) + sum_6);
            sum_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 1)] * vload16(0, x1 + ((((c * 144) + (k0 * 48)) + 16))) + sum_0);
            sum_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * vload16(0, x1 + ((((c * 144) + (k0 * 48)) + 16))) + sum_1);
            sum_2 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * vload16(0, x1 + ((((c * 144) + (k0 * 48)) + 16))) + sum_2);
            sum_3 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * vload16(0, x1 + ((((c * 144) + (k0 * 48)) + 16))) + sum_3);
            sum_4 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * vload16(0, x1 + ((((c * 144) + (k0 * 48)) + 16))) + sum_4);
            sum_5 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * vload16(0, x1 + ((((c * 144) + (k0 * 48)) + 16))) + sum_5);
            sum_6 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 7)] * vload16(0, x1 + ((((c * 144) + (k0 * 48)) + 16))) + sum_6);
            sum_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * vload16(0, x1 + ((((c * 144) + (k0 * 48)) + 32))) + sum_0);
            sum_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * vload16(0, x1 + ((((c * 144) + (k0 * 48)) + 32))) + sum_1);
            sum_2 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * vload16(0, x1 + ((((c * 144) + (k0 * 48)) + 32))) + sum_2);
            sum_3 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * vload16(0, x1 + ((((c * 144) + (k0 * 48)) + 32))) + sum_3);
            sum_4 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * vload16(0, x1 + ((((c * 144) + (k0 * 48)) + 32))) + sum_4);
            sum_5 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 7)] * vload16(0, x1 + ((((c * 144) + (k0 * 48)) + 32))) + sum_5);
            sum_6 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 8)] * vload16(0, x1 + ((((c * 144) + (k0 * 48)) + 32))) + sum_6);
          }
        }
        {
          const f32x16 value = max_f32x16(splat_f32x16(0.0f), sum_0);
          y0[(o0 * 7)] = value.s0;
          y0[((o0 * 7) + 35)] = value.s1;
          y0[((o0 * 7) + 70)] = value.s2;
          y0[((o0 * 7) + 105)] = value.s3;
          y0[((o0 * 7) + 140)] = value.s4;
          y0[((o0 * 7) + 175)] = value.s5;
          y0[((o0 * 7) + 210)] = value.s6;
          y0[((o0 * 7) + 245)] = value.s7;
          y0[((o0 * 7) + 280)] = value.s8;
          y0[((o0 * 7) + 315)] = value.s9;
          y0[((o0 * 7) + 350)] = value.sa;
          y0[((o0 * 7) + 385)] = value.sb;
          y0[((o0 * 7) + 420)] = value.sc;
          y0[((o0 * 7) + 455)] = value.sd;
          y0[((o0 * 7) + 490)] = value.se;
          y0[((o0 * 7) + 525)] = value.sf;
        }
        {
          const f32x16 value = max_f32x16(splat_f32x16(0.0f), sum_1);
          y0[((o0 * 7) + 1)] = value.s0;
          y0[((o0 * 7) + 36)] = value.s1;
          y0[((o0 * 7) + 71)] = value.s2;
          y0[((o0 * 7) + 106)] = value.s3;
          y0[((o0 * 7) + 141)] = value.s4;
          y0[((o0 * 7) + 176)] = value.s5;
          y0[((o0 * 7) + 211)] = value.s6;
          y0[((o0 * 7) + 246)] = value.s7;
          y0[((o0 * 7) + 281)] = value.s8;
          y0[((o0 * 7) + 316)] = value.s9;
          y0[((o0 * 7) + 351)] = value.sa;
          y0[((o0 * 7) + 386)] = value.sb;
          y0[((o0 * 7) + 421)] = value.sc;
          y0[((o0 * 7) + 456)] = value.sd;
          y0[((o0 * 7) + 491)] = value.se;
          y0[((o0 * 7) + 526)] = value.sf;
        }
        {
          const f32x16 value = max_f32x16(splat_f32x16(0.0f), sum_2);
          y0[((o0 * 7) + 2)] = value.s0;
          y0[((o0 * 7) + 37)] = value.s1;
          y0[((o0 * 7) + 72)] = value.s2;
          y0[((o0 * 7) + 107)] = value.s3;
          y0[((o0 * 7) + 142)] = value.s4;
          y0[((o0 * 7) + 177)] = value.s5;
          y0[((o0 * 7) + 212)] = value.s6;
          y0[((o0 * 7) + 247)] = value.s7;
          y0[((o0 * 7) + 282)] = value.s8;
          y0[((o0 * 7) + 317)] = value.s9;
          y0[((o0 * 7) + 352)] = value.sa;
          y0[((o0 * 7) + 387)] = value.sb;
          y0[((o0 * 7) + 422)] = value.sc;
          y0[((o0 * 7) + 457)] = value.sd;
          y0[((o0 * 7) + 492)] = value.se;
          y0[((o0 * 7) + 527)] = value.sf;
        }
        {
          const f32x16 value = max_f32x16(splat_f32x16(0.0f), sum_3);
          y0[((o0 * 7) + 3)] = value.s0;
          y0[((o0 * 7) + 38)] = value.s1;
          y0[((o0 * 7) + 73)] = value.s2;
          y0[((o0 * 7) + 108)] = value.s3;
          y0[((o0 * 7) + 143)] = value.s4;
          y0[((o0 * 7) + 178)] = value.s5;
          y0[((o0 * 7) + 213)] = value.s6;
          y0[((o0 * 7) + 248)] = value.s7;
          y0[((o0 * 7) + 283)] = value.s8;
          y0[((o0 * 7) + 318)] = value.s9;
          y0[((o0 * 7) + 353)] = value.sa;
          y0[((o0 * 7) + 388)] = value.sb;
          y0[((o0 * 7) + 423)] = value.sc;
          y0[((o0 * 7) + 458)] = value.sd;
          y0[((o0 * 7) + 493)] = value.se;
          y0[((o0 * 7) + 528)] = value.sf;
        }
        {
          const f32x16 value = max_f32x16(splat_f32x16(0.0f), sum_4);
          y0[((o0 * 7) + 4)] = value.s0;
          y0[((o0 * 7) + 39)] = value.s1;
          y0[((o0 * 7) + 74)] = value.s2;
          y0[((o0 * 7) + 109)] = value.s3;
          y0[((o0 * 7) + 144)] = value.s4;
          y0[((o0 * 7) + 179)] = value.s5;
          y0[((o0 * 7) + 214)] = value.s6;
          y0[((o0 * 7) + 249)] = value.s7;
          y0[((o0 * 7) + 284)] = value.s8;
          y0[((o0 * 7) + 319)] = value.s9;
          y0[((o0 * 7) + 354)] = value.sa;
          y0[((o0 * 7) + 389)] = value.sb;
          y0[((o0 * 7) + 424)] = value.sc;
          y0[((o0 * 7) + 459)] = value.sd;
          y0[((o0 * 7) + 494)] = value.se;
          y0[((o0 * 7) + 529)] = value.sf;
        }
        {
          const f32x16 value = max_f32x16(splat_f32x16(0.0f), sum_5);
          y0[((o0 * 7) + 5)] = value.s0;
          y0[((o0 * 7) + 40)] = value.s1;
          y0[((o0 * 7) + 75)] = value.s2;
          y0[((o0 * 7) + 110)] = value.s3;
          y0[((o0 * 7) + 145)] = value.s4;
          y0[((o0 * 7) + 180)] = value.s5;
          y0[((o0 * 7) + 215)] = value.s6;
          y0[((o0 * 7) + 250)] = value.s7;
          y0[((o0 * 7) + 285)] = value.s8;
          y0[((o0 * 7) + 320)] = value.s9;
          y0[((o0 * 7) + 355)] = value.sa;
          y0[((o0 * 7) + 390)] = value.sb;
          y0[((o0 * 7) + 425)] = value.sc;
          y0[((o0 * 7) + 460)] = value.sd;
          y0[((o0 * 7) + 495)] = value.se;
          y0[((o0 * 7) + 530)] = value.sf;
        }
        {
          const f32x16 value = max_f32x16(splat_f32x16(0.0f), sum_6);
          y0[((o0 * 7) + 6)] = value.s0;
          y0[((o0 * 7) + 41)] = value.s1;
          y0[((o0 * 7) + 76)] = value.s2;
          y0[((o0 * 7) + 111)] = value.s3;
          y0[((o0 * 7) + 146)] = value.s4;
          y0[((o0 * 7) + 181)] = value.s5;
          y0[((o0 * 7) + 216)] = value.s6;
          y0[((o0 * 7) + 251)] = value.s7;
          y0[((o0 * 7) + 286)] = value.s8;
          y0[((o0 * 7) + 321)] = value.s9;
          y0[((o0 * 7) + 356)] = value.sa;
          y0[((o0 * 7) + 391)] = value.sb;
          y0[((o0 * 7) + 426)] = value.sc;
          y0[((o0 * 7) + 461)] = value.sd;
          y0[((o0 * 7) + 496)] = value.se;
          y0[((o0 * 7) + 531)] = value.sf;
        }
      }
    }
    for (long o0 = 0; o0 < 5; ++o0) {
      for (long o1_o = 0; o1_o < 1; ++o1_o) {
        f32x4 sum_0, sum_1, sum_2, sum_3, sum_4, sum_5, sum_6;
        sum_0 = vload4(0, x2 + (16));
        sum_1 = vload4(0, x2 + (16));
        sum_2 = vload4(0, x2 + (16));
        sum_3 = vload4(0, x2 + (16));
        sum_4 = vload4(0, x2 + (16));
        sum_5 = vload4(0, x2 + (16));
        sum_6 = vload4(0, x2 + (16));
        for (long c = 0; c < 3; ++c) {
          for (long k0 = 0; k0 < 3; ++k0) {
            PREFETCH(x0 + (((((c * 63) + (k0 * 9)) + (o0 * 9)) + 9)), 2);
            sum_0 = (x0[(((c * 63) + (k0 * 9)) + (o0 * 9))] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 432))) + sum_0);
            sum_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 1)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 432))) + sum_1);
            sum_2 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 432))) + sum_2);
            sum_3 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 432))) + sum_3);
            sum_4 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 432))) + sum_4);
            sum_5 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 432))) + sum_5);
            sum_6 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 432))) + sum_6);
            sum_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 1)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 448))) + sum_0);
            sum_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 448))) + sum_1);
            sum_2 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 448))) + sum_2);
            sum_3 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 448))) + sum_3);
            sum_4 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 448))) + sum_4);
            sum_5 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 448))) + sum_5);
            sum_6 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 7)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 448))) + sum_6);
            sum_0 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 2)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 464))) + sum_0);
            sum_1 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 3)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 464))) + sum_1);
            sum_2 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 4)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 464))) + sum_2);
            sum_3 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 5)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 464))) + sum_3);
            sum_4 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 6)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 464))) + sum_4);
            sum_5 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 7)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 464))) + sum_5);
            sum_6 = (x0[((((c * 63) + (k0 * 9)) + (o0 * 9)) + 8)] * vload4(0, x1 + ((((c * 144) + (k0 * 48)) + 464))) + sum_6);
          }
        }
        {
          const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_0);
          y0[((o0 * 7) + 560)] = value.s0;
          y0[((o0 * 7) + 595)] = value.s1;
          y0[((o0 * 7) + 630)] = value.s2;
          y0[((o0 * 7) + 665)] = value.s3;
        }
        {
          const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_1);
          y0[((o0 * 7) + 561)] = value.s0;
          y0[((o0 * 7) + 596)] = value.s1;
          y0[((o0 * 7) + 631)] = value.s2;
          y0[((o0 * 7) + 666)] = value.s3;
        }
        {
          const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_2);
          y0[((o0 * 7) + 562)] = value.s0;
          y0[((o0 * 7) + 597)] = value.s1;
          y0[((o0 * 7) + 632)] = value.s2;
          y0[((o0 * 7) + 667)] = value.s3;
        }
        {
          const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_3);
          y0[((o0 * 7) + 563)] = value.s0;
          y0[((o0 * 7) + 598)] = value.s1;
          y0[((o0 * 7) + 633)] = value.s2;
          y0[((o0 * 7) + 668)] = value.s3;
        }
        {
          const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_4);
          y0[((o0 * 7) + 564)] = value.s0;
          y0[((o0 * 7) + 599)] = value.s1;
          y0[((o0 * 7) + 634)] = value.s2;
          y0[((o0 * 7) + 669)] = value.s3;
        }
        {
          const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_5);
          y0[((o0 * 7) + 565)] = value.s0;
          y0[((o0 * 7) + 600)] = value.s1;
          y0[((o0 * 7) + 635)] = value.s2;
          y0[((o0 * 7) + 670)] = value.s3;
        }
        {
          const f32x4 value = max_f32x4(splat_f32x4(0.0f), sum_6);
          y0[((o0 * 7) + 566)] = value.s0;
          y0[((o0 * 7) + 601)] = value.s1;
          y0[((o0 * 7) + 636)] = value.s2;
          y0[((o0 * 7) + 671)] = value.s3;
        }
      }
    }
  }
}
__kernel void conv_784819dc324b(__global float* restrict y0, __global float* restrict x0, __global float* restrict x1, __global float* restrict x2) {
  conv_784819dc324b_task(y0, x0, x1, x2, get_global_id(0));
}
