// exact: products are rounded before they are added
// ToInteger (map): float32[1,8,4,4] -> uint8[1,8,4,4]
void map_6f98b1289790_task(__global uchar* restrict y0, __global float* restrict x0, const long task) {
  {
    const long d2 = task;
    vstore8(convert_uchar8((convert_int8_rte(min_f32x8(max_f32x8((((f32x8)(x0[d2], x0[(d2 + 16)], x0[(d2 + 32)], x0[(d2 + 48)], x0[(d2 + 64)], x0[(d2 + 80)], x0[(d2 + 96)], x0[(d2 + 112)])) / 0x1.eb851ep-6f), splat_f32x8((-130.0f))), splat_f32x8(125.0f))) + 130)), 0, y0 + ((d2 * 16)));
  }
}
__kernel void map_6f98b1289790(__global uchar* restrict y0, __global float* restrict x0) {
  map_6f98b1289790_task(y0, x0, get_global_id(0));
}

// exact: products are rounded before they are added
// QuantizedConv (quantized_conv): uint8[1,8,4,4] int8[16,8,1,1] int32[16] float32[16] -> uint8[1,16,4,4]
void quantized_conv_16d09cd363de_task(__global uchar* restrict y0, __global int* restrict x2, __global uchar* restrict x0, __global char* restrict x1, __global float* restrict x3, const long task) {
  {
    const long o0_o = task;
    i32x16 sum_0_0, sum_0_1, sum_0_2, sum_0_3, sum_1_0, sum_1_1, sum_1_2, sum_1_3;
    sum_0_0 = vload16(0, x2 + (0));
    sum_0_1 = vload16(0, x2 + (0));
    sum_0_2 = vload16(0, x2 + (0));
    sum_0_3 = vload16(0, x2 + (0));
    sum_1_0 = vload16(0, x2 + (0));
    sum_1_1 = vload16(0, x2 + (0));
    sum_1_2 = vload16(0, x2 + (0));
    sum_1_3 = vload16(0, x2 + (0));
    sum_0_0 = (sum_0_0 + (((int)x0[(o0_o * 128)]) * ((i32x16)(((int)x1[0]), ((int)x1[4]), ((int)x1[8]), ((int)x1[12]), ((int)x1[16]), ((int)x1[20]), ((int)x1[24]), ((int)x1[28]), ((int)x1[32]), ((int)x1[36]), ((int)x1[40]), ((int)x1[44]), ((int)x1[48]), ((int)x1[52]), ((int)x1[56]), ((int)x1[60])))));
    sum_0_0 = (sum_0_0 + (((int)x0[((o0_o * 128) + 1)]) * ((i32x16)(((int)x1[1]), ((int)x1[5]), ((int)x1[9]), ((int)x1[13]), ((int)x1[17]), ((int)x1[21]), ((int)x1[25]), ((int)x1[29]), ((int)x1[33]), ((int)x1[37]), ((int)x1[41]), ((int)x1[45]), ((int)x1[49]), ((int)x1[53]), ((int)x1[57]), ((int)x1[61])))));
    sum_0_0 = (sum_0_0 + (((int)x0[((o0_o * 128) + 2)]) * ((i32x16)(((int)x1[2]), ((int)x1[6]), ((int)x1[10]), ((int)x1[14]), ((int)x1[18]), ((int)x1[22]), ((int)x1[26]), ((int)x1[30]), ((int)x1[34]), ((int)x1[38]), ((int)x1[42]), ((int)x1[46]), ((int)x1[50]), ((int)x1[54]), ((int)x1[58]), ((int)x1[62])))));
    sum_0_0 = (sum_0_0 + (((int)x0[((o0_o * 128) + 3)]) * ((i32x16)(((int)x1[3]), ((int)x1[7]), ((int)x1[11]), ((int)x1[15]), ((int)x1[19]), ((int)x1[23]), ((int)x1[27]), ((int)x1[31]), ((int)x1[35]), ((int)x1[39]), ((int)x1[43]), ((int)x1[47]), ((int)x1[51]), ((int)x1[55]), ((int)x1[59]), ((int)x1[63])))));
    sum_0_1 = (sum_0_1 + (((int)x0[((o0_o * 128) + 16)]) * ((i32x16)(((int)x1[0]), ((int)x1[4]), ((int)x1[8]), ((int)x1[12]), ((int)x1[16]), ((int)x1[20]), ((int)x1[24]), ((int)x1[28]), ((int)x1[32]), ((int)x1[36]), ((int)x1[40]), ((int)x1[44]), ((int)x1[48]), ((int)x1[52]), ((int)x1[56]), ((int)x1[60])))));
    sum_0_1 = (sum_0_1 + (((int)x0[((o0_o * 128) + 17)]) * ((i32x16)(((int)x1[1]), ((int)x1[5]), ((int)x1[9]), ((int)x1[13]), ((int)x1[17]), ((int)x1[21]), ((int)x1[25]), ((int)x1[29]), ((int)x1[33]), ((int)x1[37]), ((int)x1[41]), ((int)x1[45]), ((int)x1[49]), ((int)x1[53]), ((int)x1[57]), ((int)x1[61])))));
    sum_0_1 = (sum_0_1 + (((int)x0[((o0_o * 128) + 18)]) * ((i32x16)(((int)x1[2]), ((int)x1[6]), ((int)x1[10]), ((int)x1[14]), ((int)x1[18]), ((int)x1[22]), ((int)x1[26]), ((int)x1[30]), ((int)x1[34]), ((int)x1[38]), ((int)x1[42]), ((int)x1[46]), ((int)x1[50]), ((int)x1[54]), ((int)x1[58]), ((int)x1[62])))));
    sum_0_1 = (sum_0_1 + (((int)x0[((o0_o * 128) + 19)]) * ((i32x16)(((int)x1[3]), ((int)x1[7]), ((int)x1[11]), ((int)x1[15]), ((int)x1[19]), ((int)x1[23]), ((int)x1[27]), ((int)x1[31]), ((int)x1[35]), ((int)x1[39]), ((int)x1[43]), ((int)x1[47]), ((int)x1[51]), ((int)x1[55]), ((int)x1[59]), ((int)x1[63])))));
    sum_0_2 = (sum_0_2 + (((int)x0[((o0_o * 128) + 32)]) * ((i32x16)(((int)x1[0]), ((int)x1[4]), ((int)x1[8]), ((int)x1[12]), ((int)x1[16]), ((int)x1[20]), ((int)x1[24]), ((int)x1[28]), ((int)x1[32]), ((int)x1[36]), ((int)x1[40]), ((int)x1[44]), ((int)x1[48]), ((int)x1[52]), ((int)x1[56]), ((int)x1[60])))));
    sum_0_2 = (sum_0_2 + (((int)x0[((o0_o * 128) + 33)]) * ((i32x16)(((int)x1[1]), ((int)x1[5]), ((int)x1[9]), ((int)x1[13]), ((int)x1[17]), ((int)x1[21]), ((int)x1[25]), ((int)x1[29]), ((int)x1[33]), ((int)x1[37]), ((int)x1[41]), ((int)x1[45]), ((int)x1[49]), ((int)x1[53]), ((int)x1[57]), ((int)x1[61])))));
    sum_0_2 = (sum_0_2 + (((int)x0[((o0_o * 128) + 34)]) * ((i32x16)(((int)x1[2]), ((int)x1[6]), ((int)x1[10]), ((int)x1[14]), ((int)x1[18]), ((int)x1[22]), ((int)x1[26]), ((int)x1[30]), ((int)x1[34]), ((int)x1[38]), ((int)x1[42]), ((int)x1[46]), ((int)x1[50]), ((int)x1[54]), ((int)x1[58]), ((int)x1[62])))));
    sum_0_2 = (sum_0_2 + (((int)x0[((o0_o * 128) + 35)]) * ((i32x16)(((int)x1[3]), ((int)x1[7]), ((int)x1[11]), ((int)x1[15]), ((int)x1[19]), ((int)x1[23]), ((int)x1[27]), ((int)x1[31]), ((int)x1[35]), ((int)x1[39]), ((int)x1[43]), ((int)x1[47]), ((int)x1[51]), ((int)x1[55]), ((int)x1[59]), ((int)x1[63])))));
    sum_0_3 = (sum_0_3 + (((int)x0[((o0_o * 128) + 48)]) * ((i32x16)(((int)x1[0]), ((int)x1[4]), ((int)x1[8]), ((int)x1[12]), ((int)x1[16]), ((int)x1[20]), ((int)x1[24]), ((int)x1[28]), ((int)x1[32]), ((int)x1[36]), ((int)x1[40]), ((int)x1[44]), ((int)x1[48]), ((int)x1[52]), ((int)x1[56]), ((int)x1[60])))));
    sum_0_3 = (sum_0_3 + (((int)x0[((o0_o * 128) + 49)]) * ((i32x16)(((int)x1[1]), ((int)x1[5]), ((int)x1[9]), ((int)x1[13]), ((int)x1[17]), ((int)x1[21]), ((int)x1[25]), ((int)x1[29]), ((int)x1[33]), ((int)x1[37]), ((int)x1[41]), ((int)x1[45]), ((int)x1[49]), ((int)x1[53]), ((int)x1[57]), ((int)x1[61])))));
    sum_0_3 = (sum_0_3 + (((int)x0[((o0_o * 128) + 50)]) * ((i32x16)(((int)x1[2]), ((int)x1[6]), ((int)x1[10]), ((int)x1[14]), ((int)x1[18]), ((int)x1[22]), ((int)x1[26]), ((int)x1[30]), ((int)x1[34]), ((int)x1[38]), ((int)x1[42]), ((int)x1[46]), ((int)x1[50]), ((int)x1[54]), ((int)x1[58]), ((int)x1[62])))));
    sum_0_3 = (sum_0_3 + (((int)x0[((o0_o * 128) + 51)]) * ((i32x16)(((int)x1[3]), ((int)x1[7]), ((int)x1[11]), ((int)x1[15]), ((int)x1[19]), ((int)x1[23]), ((int)x1[27]), ((int)x1[31]), ((int)x1[35]), ((int)x1[39]), ((int)x1[43]), ((int)x1[47]), ((int)x1[51]), ((int)x1[55]), ((int)x1[59]), ((int)x1[63])))));
    sum_1_0 = (sum_1_0 + (((int)x0[((o0_o * 128) + 64)]) * ((i32x16)(((int)x1[0]), ((int)x1[4]), ((int)x1[8]), ((int)x1[12]), ((int)x1[16]), ((int)x1[20]), ((int)x1[24]), ((int)x1[28]), ((int)x1[32]), ((int)x1[36]), ((int)x1[40]), ((int)x1[44]), ((int)x1[48]), ((int)x1[52]), ((int)x1[56]), ((int)x1[60])))));
    sum_1_0 = (sum_1_0 + (((int)x0[((o0_o * 128) + 65)]) * ((i32x16)(((int)x1[1]), ((int)x1[5]), ((int)x1[9]), ((int)x1[13]), ((int)x1[17]), ((int)x1[21]), ((int)x1[25]), ((int)x1[29]), ((int)x1[33]), ((int)x1[37]), ((int)x1[41]), ((int)x1[45]), ((int)x1[49]), ((int)x1[53]), ((int)x1[57]), ((int)x1[61])))));
    sum_1_0 = (sum_1_0 + (((int)x0[((o0_o * 128) + 66)]) * ((i32x16)(((int)x1[2]), ((int)x1[6]), ((int)x1[10]), ((int)x1[14]), ((int)x1[18]), ((int)x1[22]), ((int)x1[26]), ((int)x1[30]), ((int)x1[34]), ((int)x1[38]), ((int)x1[42]), ((int)x1[46]), ((int)x1[50]), ((int)x1[54]), ((int)x1[58]), ((int)x1[62])))));
    sum_1_0 = (sum_1_0 + (((int)x0[((o0_o * 128) + 67)]) * ((i32x16)(((int)x1[3]), ((int)x1[7]), ((int)x1[11]), ((int)x1[15]), ((int)x1[19]), ((int)x1[23]), ((int)x1[27]), ((int)x1[31]), ((int)x1[35]), ((int)x1[39]), ((int)x1[43]), ((int)x1[47]), ((int)x1[51]), ((int)x1[55]), ((int)x1[59]), ((int)x1[63])))));
    sum_1_1 = (sum_1_1 + (((int)x0[((o0_o * 128) + 80)]) * ((i32x16)(((int)x1[0]), ((int)x1[4]), ((int)x1[8]), ((int)x1[12]), ((int)x1[16]), ((int)x1[20]), ((int)x1[24]), ((int)x1[28]), ((int)x1[32]), ((int)x1[36]), ((int)x1[40]), ((int)x1[44]), ((int)x1[48]), ((int)x1[52]), ((int)x1[56]), ((int)x1[60])))));
    sum_1_1 = (sum_1_1 + (((int)x0[((o0_o * 128) + 81)]) * ((i32x16)(((int)x1[1]), ((int)x1[5]), ((int)x1[9]), ((int)x1[13]), ((int)x1[17]), ((int)x1[21]), ((int)x1[25]), ((int)x1[29]), ((int)x1[33]), ((int)x1[37]), ((int)x1[41]), ((int)x1[45]), ((int)x1[49]), ((int)x1[53]), ((int)x1[57]), ((int)x1[61])))));
    sum_1_1 = (sum_1_1 + (((int)x0[((o0_o * 128) + 82)]) * ((i32x16)(((int)x1[2]), ((int)x1[6]), ((int)x1[10]), ((int)x1[14]), ((int)x1[18]), ((int)x1[22]), ((int)x1[26]), ((int)x1[30]), ((int)x1[34]), ((int)x1[38]), ((int)x1[42]), ((int)x1[46]), ((int)x1[50]), ((int)x1[54]), ((int)x1[58]), ((int)x1[62])))));
    sum_1_1 = (sum_1_1 + (((int)x0[((o0_o * 128) + 83)]) * ((i32x16)(((int)x1[3]), ((int)x1[7]), ((int)x1[11]), ((int)x1[15]), ((int)x1[19]), ((int)x1[23]), ((int)x1[27]), ((int)x1[31]), ((int)x1[35]), ((int)x1[39]), ((int)x1[43]), ((int)x1[47]), ((int)x1[51]), ((int)x1[55]), ((int)x1[59]), ((int)x1[63])))));
    sum_1_2 = (sum_1_2 + (((int)x0[((o0_o * 128) + 96)]) * ((i32x16)(((int)x1[0]), ((int)x1[4]), ((int)x1[8]), ((int)x1[12]), ((int)x1[16]), ((int)x1[20]), ((int)x1[24]), ((int)x1[28]), ((int)x1[32]), ((int)x1[36]), ((int)x1[40]), ((int)x1[44]), ((int)x1[48]), ((int)x1[52]), ((int)x1[56]), ((int)x1[60])))));
    sum_1_2 = (sum_1_2 + (((int)x0[((o0_o * 128) + 97)]) * ((i32x16)(((int)x1[1]), ((int)x1[5]), ((int)x1[9]), ((int)x1[13]), ((int)x1[17]), ((int)x1[21]), ((int)x1[25]), ((int)x1[29]), ((int)x1[33]), ((int)x1[37]), ((int)x1[41]), ((int)x1[45]), ((int)x1[49]), ((int)x1[53]), ((int)x1[57]), ((int)x1[61])))));
    sum_1_2 = (sum_1_2 + (((int)x0[((o0_o * 128) + 98)]) * ((i32x16)(((int)x1[2]), ((int)x1[6]), ((int)x1[10]), ((int)x1[14]), ((int)x1[18]), ((int)x1[22]), ((int)x1[26]), ((int)x1[30]), ((int)x1[34]), ((int)x1[38]), ((int)x1[42]), ((int)x1[46]), ((int)x1[50]), ((int)x1[54]), ((int)x1[58]), ((int)x1[62])))));
    sum_1_2 = (sum_1_2 + (((int)x0[((o0_o * 128) + 99)]) * ((i32x16)(((int)x1[3]), ((int)x1[7]), ((int)x1[11]), ((int)x1[15]), ((int)x1[19]), ((int)x1[23]), ((int)x1[27]), ((int)x1[31]), ((int)x1[35]), ((int)x1[39]), ((int)x1[43]), ((int)x1[47]), ((int)x1[51]), ((int)x1[55]), ((int)x1[59]), ((int)x1[63])))));
    sum_1_3 = (sum_1_3 + (((int)x0[((o0_o * 128) + 112)]) * ((i32x16)(((int)x1[0]), ((int)x1[4]), ((int)x1[8]), ((int)x1[12]), ((int)x1[16]), ((int)x1[20]), ((int)x1[24]), ((int)x1[28]), ((int)x1[32]), ((int)x1[36]), ((int)x1[40]), ((int)x1[44]), ((int)x1[48]), ((int)x1[52]), ((int)x1[56]), ((int)x1[60])))));
    sum_1_3 = (sum_1_3 + (((int)x0[((o0_o * 128) + 113)]) * ((i32x16)(((int)x1[1]), ((int)x1[5]), ((int)x1[9]), ((int)x1[13]), ((int)x1[17]), ((int)x1[21]), ((int)x1[25]), ((int)x1[29]), ((int)x1[33]), ((int)x1[37]), ((int)x1[41]), ((int)x1[45]), ((int)x1[49]), ((int)x1[53]), ((int)x1[57]), ((int)x1[61])))));
    sum_1_3 = (sum_1_3 + (((int)x0[((o0_o * 128) + 114)]) * ((i32x16)(((int)x1[2]), ((int)x1[6]), ((int)x1[10]), ((int)x1[14]), ((int)x1[18]), ((int)x1[22]), ((int)x1[26]), ((int)x1[30]), ((int)x1[34]), ((int)x1[38]), ((int)x1[42]), ((int)x1[46]), ((int)x1[50]), ((int)x1[54]), ((int)x1[58]), ((int)x1[62])))));
    sum_1_3 = (sum_1_3 + (((int)x0[((o0_o * 128) + 115)]) * ((i32x16)(((int)x1[3]), ((int)x1[7]), ((int)x1[11]), ((int)x1[15]), ((int)x1[19]), ((int)x1[23]), ((int)x1[27]), ((int)x1[31]), ((int)x1[35]), ((int)x1[39]), ((int)x1[43]), ((int)x1[47]), ((int)x1[51]), ((int)x1[55]), ((int)x1[59]), ((int)x1[63])))));
    sum_0_0 = (sum_0_0 + (((int)x0[((o0_o * 128) + 4)]) * ((i32x16)(((int)x1[64]), ((int)x1[68]), ((int)x1[72]), ((int)x1[76]), ((int)x1[80]), ((int)x1[84]), ((int)x1[88]), ((int)x1[92]), ((int)x1[96]), ((int)x1[100]), ((int)x1[104]), ((int)x1[108]), ((int)x1[112]), ((int)x1[116]), ((int)x1[120]), ((int)x1[124])))));
    sum_0_0 = (sum_0_0 + (((int)x0[((o0_o * 128) + 5)]) * ((i32x16)(((int)x1[65]), ((int)x1[69]), ((int)x1[73]), ((int)x1[77]), ((int)x1[81]), ((int)x1[85]), ((int)x1[89]), ((int)x1[93]), ((int)x1[97]), ((int)x1[101]), ((int)x1[105]), ((int)x1[109]), ((int)x1[113]), ((int)x1[117]), ((int)x1[121]), ((int)x1[125])))));
    sum_0_0 = (sum_0_0 + (((int)x0[((o0_o * 128) + 6)]) * ((i32x16)(((int)x1[66]), ((int)x1[70]), ((int)x1[74]), ((int)x1[78]), ((int)x1[82]), ((int)x1[86]), ((int)x1[90]), ((int)x1[94]), ((int)x1[98]), ((int)x1[102]), ((int)x1[106]), ((int)x1[110]), ((int)x1[114]), ((int)x1[118]), ((int)x1[122]), ((int)x1[126])))));
    sum_0_0 = (sum_0_0 + (((int)x0[((o0_o * 128) + 7)]) * ((i32x16)(((int)x1[67]), ((int)x1[71]), ((int)x1[75]), ((int)x1[79]), ((int)x1[83]), ((int)x1[87]), ((int)x1[91]), ((int)x1[95]), ((int)x1[99]), ((int)x1[103]), ((int)x1[107]), ((int)x1[111]), ((int)x1[115]), ((int)x1[119]), ((int)x1[123]), ((int)x1[127])))));
    sum_0_1 = (sum_0_1 + (((int)x0[((o0_o * 128) + 20)]) * ((i32x16)(((int)x1[64]), ((int)x1[68]), ((int)x1[72]), ((int)x1[76]), ((int)x1[80]), ((int)x1[84]), ((int)x1[88]), ((int)x1[92]), ((int)x1[96]), ((int)x1[100]), ((int)x1[104]), ((int)x1[108]), ((int)x1[112]), ((int)x1[116]), ((int)x1[120]), ((int)x1[124])))));
    sum_0_1 = (sum_0_1 + (((int)x0[((o0_o * 128) + 21)]) * ((i32x16)(((int)x1[65]), ((int)x1[69]), ((int)x1[73]), ((int)x1[77]), ((int)x1[81]), ((int)x1[85]), ((int)x1[89]), ((int)x1[93]), ((int)x1[97]), ((int)x1[101]), ((int)x1[105]), ((int)x1[109]), ((int)x1[113]), ((int)x1[117]), ((int)x1[121]), ((int)x1[125])))));
    sum_0_1 = (sum_0_1 + (((int)x0[((o0_o * 128) + 22)]) * ((i32x16)(((int)x1[66]), ((int)x1[70]), ((int)x1[74]), ((int)x1[78]), ((int)x1[82]), ((int)x1[86]), ((int)x1[90]), ((int)x1[94]), ((int)x1[98]), ((int)x1[102]), ((int)x1[106]), ((int)x1[110]), ((int)x1[114]), ((int)x1[118]), ((int)x1[122]), ((int)x1[126])))));
    sum_0_1 = (sum_0_1 + (((int)x0[((o0_o * 128) + 23)]) * ((i32x16)(((int)x1[67]), ((int)x1[71]), ((int)x1[75]), ((int)x1[79]), ((int)x1[83]), ((int)x1[87]), ((int)x1[91]), ((int)x1[95]), ((int)x1[99]), ((int)x1[103]), ((int)x1[107]), ((int)x1[111]), ((int)x1[115]), ((int)x1[119]), ((int)x1[123]), ((int)x1[127])))));
    sum_0_2 = (sum_0_2 + (((int)x0[((o0_o * 128) + 36)]) * ((i32x16)(((int)x1[64]), ((int)x1[68]), ((int)x1[72]), ((int)x1[76]), ((int)x1[80]), ((int)x1[84]), ((int)x1[88]), ((int)x1[92]), ((int)x1[96]), ((int)x1[100]), ((int)x1[104]), ((int)x1[108]), ((int)x1[112]), ((int)x1[116]), ((int)x1[120]), ((int)x1[124])))));
    sum_0_2 = (sum_0_2 + (((int)x0[((o0_o * 128) + 37)]) * ((i32x16)(((int)x1[65]), ((int)x1[69]), ((int)x1[73]), ((int)x1[77]), ((int)x1[81]), ((int)x1[85]), ((int)x1[89]), ((int)x1[93]), ((int)x1[97]), ((int)x1[101]), ((int)x1[105]), ((int)x1[109]), ((int)x1[113]), ((int)x1[117]), ((int)x1[121]), ((int)x1[125])))));
    sum_0_2 = (sum_0_2 + (((int)x0[((o0_o * 128) + 38)]) * ((i32x16)(((int)x1[66]), ((int)x1[70]), ((int)x1[74]), ((int)x1[78]), ((int)x1[82]), ((int)x1[86]), ((int)x1[90]), ((int)x1[94]), ((int)x1[98]), ((int)x1[102]), ((int)x1[106]), ((int)x1[110]), ((int)x1[114]), ((int)x1[118]), ((int)x1[122]), ((int)x1[126])))));
    sum_0_2 = (sum_0_2 + (((int)x0[((o0_o * 128) + 39)]) * ((i32x16)(((int)x1[67]), ((int)x1[71]), ((int)x1[75]), ((int)x1[79]), ((int)x1[83]), ((int)x1[87]), ((int)x1[91]), ((int)x1[95]), ((int)x1[99]), ((int)x1[103]), ((int)x1[107]), ((int)x1[111]), ((int)x1[115]), ((int)x1[119]), ((int)x1[123]), ((int)x1[127])))));
    sum_0_3 = (sum_0_3 + (((int)x0[((o0_o * 128) + 52)]) * ((i32x16)(((int)x1[64]), ((int)x1[68]), ((int)x1[72]), ((int)x1[76]), ((int)x1[80]), ((int)x1[84]), ((int)x1[88]), ((int)x1[92]), ((int)x1[96]), ((int)x1[100]), ((int)x1[104]), ((int)x1[108]), ((int)x1[112]), ((int)x1[116]), ((int)x1[120]), ((int)x1[124])))));
    sum_0_3 = (sum_0_3 + (((int)x0[((o0_o * 128) + 53)]) * ((i32x16)(((int)x1[65]), ((int)x1[69]), ((int)x1[73]), ((int)x1[77]), ((int)x1[81]), ((int)x1[85]), ((int)x1[89]), ((int)x1[93]), ((int)x1[97]), ((int)x1[101]), ((int)x1[105]), ((int)x1[109]), ((int)x1[113]), ((int)x1[117]), ((int)x1[121]), ((int)x1[125])))));
    sum_0_3 = (sum_0_3 + (((int)x0[((o0_o * 128) + 54)]) * ((i32x16)(((int)x1[66]), ((int)x1[70]), ((int)x1[74]), ((int)x1[78]), ((int)x1[82]), ((int)x1[86]), ((int)x1[90]), ((int)x1[94]), ((int)x1[98]), ((int)x1[102]), ((int)x1[106]), ((int)x1[110]), ((int)x1[114]), ((int)x1[118]), ((int)x1[122]), ((int)x1[126])))));
    sum_0_3 = (sum_0_3 + (((int)x0[((o0_o * 128) + 55)]) * ((i32x16)(((int)x1[67]), ((int)x1[71]), ((int)x1[75]), ((int)x1[79]), ((int)x1[83]), ((int)x1[87]), ((int)x1[91]), ((int)x1[95]), ((int)x1[99]), ((int)x1[103]), ((int)x1[107]), ((int)x1[111]), ((int)x1[115]), ((int)x1[119]), ((int)x1[123]), ((int)x1[127])))));
    sum_1_0 = (sum_1_0 + (((int)x0[((o0_o * 128) + 68)]) * ((i32x16)(((int)x1[64]), ((int)x1[68]), ((int)x1[72]), ((int)x1[76]), ((int)x1[80]), ((int)x1[84]), ((int)x1[88]), ((int)x1[92]), ((int)x1[96]), ((int)x1[100]), ((int)x1[104]), ((int)x1[108]), ((int)x1[112]), ((int)x1[116]), ((int)x1[120]), ((int)x1[124])))));
    sum_1_0 = (sum_1_0 + (((int)x0[((o0_o * 128) + 69)]) * ((i32x16)(((int)x1[65]), ((int)x1[69]), ((int)x1[73]), ((int)x1[77]), ((int)x1[81]), ((int)x1[85]), ((int)x1[89]), ((int)x1[93]), ((int)x1[97]), ((int)x1[101]), ((int)x1[105]), ((int)x1[109]), ((int)x1[113]), ((int)x1[117]), ((int)x1[121]), ((int)x1[125])))));
    sum_1_0 = (sum_1_0 + (((int)x0[((o0_o * 128) + 70)]) * ((i32x16)(((int)x1[66]), ((int)x1[70]), ((int)x1[74]), ((int)x1[78]), ((int)x1[82]), ((int)x1[86]), ((int)x1[90]), ((int)x1[94]), ((int)x1[98]), ((int)x1[102]), ((int)x1[106]), ((int)x1[110]), ((int)x1[114]), ((int)x1[118]), ((int)x1[122]), ((int)x1[126])))));
    sum_1_0 = (sum_1_0 + (((int)x0[((o0_o * 128) + 71)]) * ((i32x16)(((int)x1[67]), ((int)x1[71]), ((int)x1[75]), ((int)x1[79]), ((int)x1[83]), ((int)x1[87]), ((int)x1[91]), ((int)x1[95]), ((int)x1[99]), ((int)x1[103]), ((int)x1[107]), ((int)x1[111]), ((int)x1[115]), ((int)x1[119]), ((int)x1[123]), ((int)x1[127])))));
    sum_1_1 = (sum_1_1 + (((int)x0[((o0_o * 128) + 84)]) * ((i32x16)(((int)x1[64]), ((int)x1[68]), ((int)x1[72]), ((int)x1[76]), ((int)x1[80]), ((int)x1[84]), ((int)x1[88]), ((int)x1[92]), ((int)x1[96]), ((int)x1[100]), ((int)x1[104]), ((int)x1[108]), ((int)x1[112]), ((int)x1[116]), ((int)x1[120]), ((int)x1[124])))));
    sum_1_1 = (sum_1_1 + (((int)x0[((o0_o * 128) + 85)]) * ((i32x16)(((int)x1[65]), ((int)x1[69]), ((int)x1[73]), ((int)x1[77]), ((int)x1[81]), ((int)x1[85]), ((int)x1[89]), ((int)x1[93]), ((int)x1[97]), ((int)x1[101]), ((int)x1[105]), ((int)x1[109]), ((int)x1[113]), ((int)x1[117]), ((int)x1[121]), ((int)x1[125])))));
    sum_1_1 = (sum_1_1 + (((int)x0[((o0_o * 128) + 86)]) * ((i32x16)(((int)x1[66]), ((int)x1[70]), ((int)x1[74]), ((int)x1[78]), ((int)x1[82]), ((int)x1[86]), ((int)x1[90]), ((int)x1[94]), ((int)x1[98]), ((int)x1[102]), ((int)x1[106]), ((int)x1[110]), ((int)x1[114]), ((int)x1[118]), ((int)x1[122]), ((int)x1[126])))));
    sum_1_1 = (sum_1_1 + (((int)x0[((o0_o * 128) + 87)]) * ((i32x16)(((int)x1[67]), ((int)x1[71]), ((int)x1[75]), ((int)x1[79]), ((int)x1[83]), ((int)x1[87]), ((int)x1[91]), ((int)x1[95]), ((int)x1[99]), ((int)x1[103]), ((int)x1[107]), ((int)x1[111]), ((int)x1[115]), ((int)x1[119]), ((int)x1[123]), ((int)x1[127])))));
    sum_1_2 = (sum_1_2 + (((int)x0[((o0_o * 128) + 100)]) * ((i32x16)(((int)x1[64]), ((int)x1[68]), ((int)x1[72]), ((int)x1[76]), ((int)x1[80]), ((int)x1[84]), ((int)x1[88]), ((int)x1[92]), ((int)x1[96]), ((int)x1[100]), ((int)x1[104]), ((int)x1[108]), ((int)x1[112]), ((int)x1[116]), ((int)x1[120]), ((int)x1[124])))));
    sum_1_2 = (sum_1_2 + (((int)x0[((o0_o * 128) + 101)]) * ((i32x16)(((int)x1[65]), ((int)x1[69]), ((int)x1[73]), ((int)x1[77]), ((int)x1[81]), ((int)x1[85]), ((int)x1[89]), ((int)x1[93]), ((int)x1[97]), ((int)x1[101]), ((int)x1[105]), ((int)x1[109]), ((int)x1[113]), ((int)x1[117]), ((int)x1[121]), ((int)x1[125])))));
    sum_1_2 = (sum_1_2 + (((int)x0[((o0_o * 128) + 102)]) * ((i32x16)(((int)x1[66]), ((int)x1[70]), ((int)x1[74]), ((int)x1[78]), ((int)x1[82]), ((int)x1[86]), ((int)x1[90]), ((int)x1[94]), ((int)x1[98]), ((int)x1[102]), ((int)x1[106]), ((int)x1[110]), ((int)x1[114]), ((int)x1[118]), ((int)x1[122]), ((int)x1[126])))));
    sum_1_2 = (sum_1_2 + (((int)x0[((o0_o * 128) + 103)]) * ((i32x16)(((int)x1[67]), ((int)x1[71]), ((int)x1[75]), ((int)x1[79]), ((int)x1[83]), ((int)x1[87]), ((int)x1[91]), ((int)x1[95]), ((int)x1[99]), ((int)x1[103]), ((int)x1[107]), ((int)x1[111]), ((int)x1[115]), ((int)x1[119]), ((int)x1[123]), ((int)x1[127])))));
    sum_1_3 = (sum_1_3 + (((int)x0[((o0_o * 128) + 116)]) * ((i32x16)(((int)x1[64]), ((int)x1[68]), ((int)x1[72]), ((int)x1[76]), ((int)x1[80]), ((int)x1[84]), ((int)x1[88]), ((int)x1[92]), ((int)x1[96]), ((int)x1[100]), ((int)x1[104]), ((int)x1[108]), ((int)x1[112]), ((int)x1[116]), ((int)x1[120]), ((int)x1[124])))));
    sum_1_3 = (sum_1_3 + (((int)x0[((o0_o * 128) + 117)]) * ((i32x16)(((int)x1[65]), ((int)x1[69]), ((int)x1[73]), ((int)x1[77]), ((int)x1[81]), ((int)x1[85]), ((int)x1[89]), ((int)x1[93]), ((int)x1[97]), ((int)x1[101]), ((int)x1[105]), ((int)x1[109]), ((int)x1[113]), ((int)x1[117]), ((int)x1[121]), ((int)x1[125])))));
    sum_1_3 = (sum_1_3 + (((int)x0[((o0_o * 128) + 118)]) * ((i32x16)(((int)x1[66]), ((int)x1[70]), ((int)x1[74]), ((int)x1[78]), ((int)x1[82]), ((int)x1[86]), ((int)x1[90]), ((int)x1[94]), ((int)x1[98]), ((int)x1[102]), ((int)x1[106]), ((int)x1[110]), ((int)x1[114]), ((int)x1[118]), ((int)x1[122]), ((int)x1[126])))));
    sum_1_3 = (sum_1_3 + (((int)x0[((o0_o * 128) + 119)]) * ((i32x16)(((int)x1[67]), ((int)x1[71]), ((int)x1[75]), ((int)x1[79]), ((int)x1[83]), ((int)x1[87]), ((int)x1[91]), ((int)x1[95]), ((int)x1[99]), ((int)x1[103]), ((int)x1[107]), ((int)x1[111]), ((int)x1[115]), ((int)x1[119]), ((int)x1[123]), ((int)x1[127])))));
    {
      const i32x16 value = min_i32x16(max_i32x16((convert_int16_rte((convert_float16(sum_0_0) * vload16(0, x3 + (0)))) + 130), splat_i32x16(0)), splat_i32x16(255));
      y0[(o0_o * 8)] = (uchar)value.s0;
      y0[((o0_o * 8) + 16)] = (uchar)value.s1;
      y0[((o0_o * 8) + 32)] = (uchar)value.s2;
      y0[((o0_o * 8) + 48)] = (uchar)value.s3;
      y0[((o0_o * 8) + 64)] = (uchar)value.s4;
      y0[((o0_o * 8) + 80)] = (uchar)value.s5;
      y0[((o0_o * 8) + 96)] = (uchar)value.s6;
      y0[((o0_o * 8) + 112)] = (uchar)value.s7;
      y0[((o0_o * 8) + 128)] = (uchar)value.s8;
      y0[((o0_o * 8) + 144)] = (uchar)value.s9;
      y0[((o0_o * 8) + 160)] = (uchar)value.sa;
      y0[((o0_o * 8) + 176)] = (uchar)value.sb;
      y0[((o0_o * 8) + 192)] = (uchar)value.sc;
      y0[((o0_o * 8) + 208)] = (uchar)value.sd;
      y0[((o0_o * 8) + 224)] = (uchar)value.se;
      y0[((o0_o * 8) + 240)] = (uchar)value.sf;
    }
    {
      const i32x16 value = min_i32x16(max_i32x16((convert_int16_rte((convert_float16(sum_0_1) * vload16(0, x3 + (0)))) + 130), splat_i32x16(0)), splat_i32x16(255));
      y0[((o0_o * 8) + 1)] = (uchar)value.s0;
      y0[((o0_o * 8) + 17)] = (uchar)value.s1;
      y0[((o0_o * 8) + 33)] = (uchar)value.s2;
      y0[((o0_o * 8) + 49)] = (uchar)value.s3;
      y0[((o0_o * 8) + 65)] = (uchar)value.s4;
      y0[((o0_o * 8) + 81)] = (uchar)value.s5;
      y0[((o0_o * 8) + 97)] = (uchar)value.s6;
      y0[((o0_o * 8) + 113)] = (uchar)value.s7;
      y0[((o0_o * 8) + 129)] = (uchar)value.s8;
      y0[((o0_o * 8) + 145)] = (uchar)value.s9;
      y0[((o0_o * 8) + 161)] = (uchar)value.sa;
      y0[((o0_o * 8) + 177)] = (uchar)value.sb;
      y0[((o0_o * 8) + 193)] = (uchar)value.sc;
      y0[((o0_o * 8) + 209)] = (uchar)value.sd;
      y0[((o0_o * 8) + 225)] = (uchar)value.se;
      y0[((o0_o * 8) + 241)] = (uchar)value.sf;
    }
    {
      const i32x16 value = min_i32x16(max_i32x16((convert_int16_rte((convert_float16(sum_0_2) * vload16(0, x3 + (0)))) + 130), splat_i32x16(0)), splat_i32x16(255));
      y0[((o0_o * 8) + 2)] = (uchar)value.s0;
      y0[((o0_o * 8) + 18)] = (uchar)value.s1;
      y0[((o0_o * 8) + 34)] = (uchar)value.s2;
      y0[((o0_o * 8) + 50)] = (uchar)value.s3;
      y0[((o0_o * 8) + 66)] = (uchar)value.s4;
      y0[((o0_o * 8) + 82)] = (uchar)value.s5;
      y0[((o0_o * 8) + 98)] = (uchar)value.s6;
      y0[((o0_o * 8) + 114)] = (uchar)value.s7;
      y0[((o0_o * 8) + 130)] = (uchar)value.s8;
      y0[((o0_o * 8) + 146)] = (uchar)value.s9;
      y0[((o0_o * 8) + 162)] = (uchar)value.sa;
      y0[((o0_o * 8) + 178)] = (uchar)value.sb;
      y0[((o0_o * 8) + 194)] = (uchar)value.sc;
      y0[((o0_o * 8) + 210)] = (uchar)value.sd;
      y0[((o0_o * 8) + 226)] = (uchar)value.se;
      y0[((o0_o * 8) + 242)] = (uchar)value.sf;
    }
    {
      const i32x16 value = min_i32x16(max_i32x16((convert_int16_rte((convert_float16(sum_0_3) * vload16(0, x3 + (0)))) + 130), splat_i32x16(0)), splat_i32x16(255));
      y0[((o0_o * 8) + 3)] = (uchar)value.s0;
      y0[((o0_o * 8) + 19)] = (uchar)value.s1;
      y0[((o0_o * 8) + 35)] = (uchar)value.s2;
      y0[((o0_o * 8) + 51)] = (uchar)value.s3;
      y0[((o0_o * 8) + 67)] = (uchar)value.s4;
      y0[((o0_o * 8) + 83)] = (uchar)value.s5;
      y0[((o0_o * 8) + 99)] = (uchar)value.s6;
      y0[((o0_o * 8) + 115)] = (uchar)value.s7;
      y0[((o0_o * 8) + 131)] = (uchar)value.s8;
      y0[((o0_o * 8) + 147)] = (uchar)value.s9;
      y0[((o0_o * 8) + 163)] = (uchar)value.sa;
      y0[((o0_o * 8) + 179)] = (uchar)value.sb;
      y0[((o0_o * 8) + 195)] = (uchar)value.sc;
      y0[((o0_o * 8) + 211)] = (uchar)value.sd;
      y0[((o0_o * 8) + 227)] = (uchar)value.se;
      y0[((o0_o * 8) + 243)] = (uchar)value.sf;
    }
    {
      const i32x16 value = min_i32x16(max_i32x16((convert_int16_rte((convert_float16(sum_1_0) * vload16(0, x3 + (0)))) + 130), splat_i32x16(0)), splat_i32x16(255));
      y0[((o0_o * 8) + 4)] = (uchar)value.s0;
      y0[((o0_o * 8) + 20)] = (uchar)value.s1;
      y0[((o0_o * 8) + 36)] = (uchar)value.s2;
      y0[((o0_o * 8) + 52)] = (uchar)value.s3;
      y0[((o0_o * 8) + 68)] = (uchar)value.s4;
      y0[((o0_o * 8) + 84)] = (uchar)value.s5;
      y0[((o0_o * 8) + 100)] = (uchar)value.s6;
      y0[((o0_o * 8) + 116)] = (uchar)value.s7;
      y0[((o0_o * 8) + 132)] = (uchar)value.s8;
      y0[((o0_o * 8) + 148)] = (uchar)value.s9;
      y0[((o0_o * 8) + 164)] = (uchar)value.sa;
      y0[((o0_o * 8) + 180)] = (uchar)value.sb;
      y0[((o0_o * 8) + 196)] = (uchar)value.sc;
      y0[((o0_o * 8) + 212)] = (uchar)value.sd;
      y0[((o0_o * 8) + 228)] = (uchar)value.se;
      y0[((o0_o * 8) + 244)] = (uchar)value.sf;
    }
    {
      const i32x16 value = min_i32x16(max_i32x16((convert_int16_rte((convert_float16(sum_1_1) * vload16(0, x3 + (0)))) + 130), splat_i32x16(0)), splat_i32x16(255));
      y0[((o0_o * 8) + 5)] = (uchar)value.s0;
      y0[((o0_o * 8) + 21)] = (uchar)value.s1;
      y0[((o0_o * 8) + 37)] = (uchar)value.s2;
      y0[((o0_o * 8) + 53)] = (uchar)value.s3;
      y0[((o0_o * 8) + 69)] = (uchar)value.s4;
      y0[((o0_o * 8) + 85)] = (uchar)value.s5;
      y0[((o0_o * 8) + 101)] = (uchar)value.s6;
      y0[((o0_o * 8) + 117)] = (uchar)value.s7;
      y0[((o0_o * 8) + 133)] = (uchar)value.s8;
      y0[((o0_o * 8) + 149)] = (uchar)value.s9;
      y0[((o0_o * 8) + 165)] = (uchar)value.sa;
      y0[((o0_o * 8) + 181)] = (uchar)value.sb;
      y0[((o0_o * 8) + 197)] = (uchar)value.sc;
      y0[((o0_o * 8) + 213)] = (uchar)value.sd;
      y0[((o0_o * 8) + 229)] = (uchar)value.se;
      y0[((o0_o * 8) + 245)] = (uchar)value.sf;
    }
    {
      const i32x16 value = min_i32x16(max_i32x16((convert_int16_rte((convert_float16(sum_1_2) * vload16(0, x3 + (0)))) + 130), splat_i32x16(0)), splat_i32x16(255));
      y0[((o0_o * 8) + 6)] = (uchar)value.s0;
      y0[((o0_o * 8) + 22)] = (uchar)value.s1;
      y0[((o0_o * 8) + 38)] = (uchar)value.s2;
      y0[((o0_o * 8) + 54)] = (uchar)value.s3;
      y0[((o0_o * 8) + 70)] = (uchar)value.s4;
      y0[((o0_o * 8) + 86)] = (uchar)value.s5;
      y0[((o0_o * 8) + 102)] = (uchar)value.s6;
      y0[((o0_o * 8) + 118)] = (uchar)value.s7;
      y0[((o0_o * 8) + 134)] = (uchar)value.s8;
      y0[((o0_o * 8) + 150)] = (uchar)value.s9;
      y0[((o0_o * 8) + 166)] = (uchar)value.sa;
      y0[((o0_o * 8) + 182)] = (uchar)value.sb;
      y0[((o0_o * 8) + 198)] = (uchar)value.sc;
      y0[((o0_o * 8) + 214)] = (uchar)value.sd;
      y0[((o0_o * 8) + 230)] = (uchar)value.se;
      y0[((o0_o * 8) + 246)] = (uchar)value.sf;
    }
    {
      const i32x16 value = min_i32x16(max_i32x16((convert_int16_rte((convert_float16(sum_1_3) * vload16(0, x3 + (0)))) + 130), splat_i32x16(0)), splat_i32x16(255));
      y0[((o0_o * 8) + 7)] = (uchar)value.s0;
      y0[((o0_o * 8) + 23)] = (uchar)value.s1;
      y0[((o0_o * 8) + 39)] = (uchar)value.s2;
      y0[((o0_o * 8) + 55)] = (uchar)value.s3;
      y0[((o0_o * 8) + 71)] = (uchar)value.s4;
      y0[((o0_o * 8) + 87)] = (uchar)value.s5;
      y0[((o0_o * 8) + 103)] = (uchar)value.s6;
      y0[((o0_o * 8) + 119)] = (uchar)value.s7;
      y0[((o0_o * 8) + 135)] = (uchar)value.s8;
      y0[((o0_o * 8) + 151)] = (uchar)value.s9;
      y0[((o0_o * 8) + 167)] = (uchar)value.sa;
      y0[((o0_o * 8) + 183)] = (uchar)value.sb;
      y0[((o0_o * 8) + 199)] = (uchar)value.sc;
      y0[((o0_o * 8) + 215)] = (uchar)value.sd;
      y0[((o0_o * 8) + 231)] = (uchar)value.se;
      y0[((o0_o * 8) + 247)] = (uchar)value.sf;
    }
  }
}
__kernel void quantized_conv_16d09cd363de(__global uchar* restrict y0, __global int* restrict x2, __global uchar* restrict x0, __global char* restrict x1, __global float* restrict x3) {
  quantized_conv_16d09cd363de_task(y0, x2, x0, x1, x3, get_global_id(0));
}
