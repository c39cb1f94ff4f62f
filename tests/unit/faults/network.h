// A network with a place for every class of faults.
#pragma once

namespace dnn {

// A little of everything that a class of faults looks for.
inline constexpr const char* kFaultyNet = R"(graph "net" {
  opset 28
  input x: float32[1,3,8,8]
  const w1: float32[4,3,3,3] = random(1)
  const b1: float32[4] = random(2)
  const w2: float32[4,1,3,3] = random(3)
  const b2: float32[4] = random(4)
  const w3: float32[4,4,3,3] = random(5)
  const b3: float32[4] = random(6)
  const w4: float32[4,4,3,3] = random(7)
  const scale: float32[4] = {1, 2, 3, 4}
  const shift: float32[4] = {0.5, -1, 0.25, 2}
  const mean: float32[4] = {0.1, 0.2, 0.3, 0.4}
  const variance: float32[4] = {1.5, 0.5, 2, 1}
  const zero: float32[] = {0}
  const six: float32[] = {0.4}
  const half: float32[] = {0.5}
  const q: float32[] = {0.02}
  const z: int8[] = {3}
  const pads: int64[8] = {0, 0, 1, 1, 0, 0, 1, 1}
  const sizes: int64[4] = {1, 4, 12, 12}
  const axes: int64[1] = {2}
  const wd: float32[48,6] = random(8)
  const bd: float32[6] = random(9)
  const we: float32[6,6] = random(11)
  const be: float32[6] = random(12)
  c1 = Conv(x, w1, b1) @conv1 {pads = [1, 1, 1, 1], kernel_shape = [3, 3]}
  n1 = BatchNormalization(c1, scale, shift, mean, variance) @bn1 {epsilon = 0.001}
  r1 = Relu(n1) @relu1
  c2 = Conv(r1, w2, b2) @conv2 {pads = [1, 1, 1, 1], group = 4}
  r2 = Clip(c2, zero, six) @clip2
  c3 = Conv(r2, w3, b3) @conv3 {pads = [1, 1, 1, 1]}
  s3 = Add(c3, r1) @add3
  l3 = LeakyRelu(s3) @leaky3 {alpha = 0.2}
  p3 = Pad(l3, pads, zero) @pad3
  c4 = Conv(p3, w4) @conv4
  g4 = Gelu(c4) @gelu4
  m4 = MaxPool(g4) @max4 {kernel_shape = [3, 3], pads = [1, 1, 1, 1]}
  a4 = AveragePool(g4) @average4 {kernel_shape = [3, 3], pads = [1, 1, 1, 1]}
  t4 = Concat(m4, a4) @concat4 {axis = 1}
  k4 = LRN(t4) @lrn4 {size = 3, alpha = 0.3}
  d4 = Div(k4, half) @div4
  q4 = QuantizeLinear(d4, q, z) @quantize4
  e4 = DequantizeLinear(q4, q, z) @dequantize4
  o4 = Transpose(e4) @transpose4 {perm = [0, 2, 3, 1]}
  i4 = Transpose(o4) @back4 {perm = [0, 3, 1, 2]}
  const first: int64[1] = {0}
  const last: int64[1] = {4}
  const along: int64[1] = {1}
  h4 = Slice(i4, first, last, along) @slice4
  z4 = Resize(h4, _, _, sizes) @resize4 {mode = "linear", coordinate_transformation_mode = "half_pixel"}
  v4 = ReduceMean(z4, axes) @mean4 {keepdims = 0}
  f4 = Flatten(v4) @flatten4
  y4 = Gemm(f4, wd, bd) @dense4
  x5 = Gemm(y4, we, be) @dense5
  k5 = Conv(h4, w3, b3) @conv5 {pads = [1, 1, 1, 1]}
  f5 = Flatten(k5) @flatten5
  const wf: float32[256,6] = random(13)
  g5 = MatMul(f5, wf) @dense6
  j4 = Add(g5, x5) @join4
  const w6: int8[4,4,3,3] = random(15)
  const s6: float32[4] = {0.011, 0.013, 0.017, 0.019}
  const z6: int8[4] = {0, 0, 0, 0}
  const b6: int32[4] = {1200, -900, 400, 700}
  const t6: float32[4] = {0.00022, 0.00026, 0.00034, 0.00038}
  d6 = DequantizeLinear(w6, s6, z6) @weights6 {axis = 0}
  h6 = DequantizeLinear(b6, t6) @bias6 {axis = 0}
  k6 = Conv(z4, d6, h6) @conv6 {pads = [1, 1, 1, 1]}
  p6 = GlobalAveragePool(k6) @pool6
  f6 = Flatten(p6) @flatten6
  const wg: float32[4,6] = random(14)
  g6 = MatMul(f6, wg) @dense7
  j5 = Add(j4, g6) @join5
  s5 = Softmax(j5) @softmax5
  w5 = Sigmoid(s5) @sigmoid5
  j6 = Sub(w5, j5) @subtract6
  output j6
})";

}  // namespace dnn
