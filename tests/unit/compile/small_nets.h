// Small networks for tests of code for other machines, and whether what such tests need is here.
#pragma once
#include <string>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"

namespace dnn {

struct Net {
  const char* name;
  std::string text;
};

// Attention over one quantised value of two samples, `rows` x `columns` each: its scores, with a mask, and what they weigh. The weights of
// softmax are quantised to `weights`. `more` are further lines.
inline std::string attention_text(const std::string& rows, const std::string& columns, const std::string& type,
                                  int zero_point, const std::string& weights, const std::string& more = "") {
  return cat("graph \"attention\" {\n  opset 21\n  input x: float32[2,", rows, ",", columns,
             "]\n  const s: float32[] = {0.5}\n  const z: ", type, "[] = {", zero_point,
             "}\n  const t: float32[] = {0.004}\n  const u: ", weights, "[] = {", weights == "int8" ? -128 : 0,
             "}\n  const down: float32[] = {0.0004}\n  const mask: float32[", rows, R"(] = random(1)
  x.q = QuantizeLinear(x, s, z) @quantize
  x.real = DequantizeLinear(x.q, s, z) @real
  k = Transpose(x.q) @turn {perm = [0, 2, 1]}
  k.real = DequantizeLinear(k, s, z) @turned
  p = MatMul(x.real, k.real) @scores
  d = Mul(p, down) @scale
  m = Add(d, mask) @mask
  e = Softmax(m) @softmax
  e.q = QuantizeLinear(e, t, u) @weights
  e.real = DequantizeLinear(e.q, t, u) @weights_real
  y = MatMul(e.real, x.real) @weigh
  y.q = QuantizeLinear(y, s, z) @end)",
             more, "\n  output y.q\n  output p\n}\n");
}

// Extents are no multiples of a vector's, so that every kernel has a tail.
inline const Net kNets[] = {
    {"convolutions", R"(graph "convolutions" {
       opset 28
       input x: float32[1,5,7,9]
       const w1: float32[19,5,3,3] = random(1)
       const b1: float32[19] = random(2)
       const w2: float32[19,1,3,3] = random(3)
       const w3: float32[7,19,1,1] = random(4)
       const low: float32[] = {0}
       const high: float32[] = {6}
       c = Conv(x, w1, b1) @c {pads = [1, 1, 1, 1]}
       r = Clip(c, low, high) @r
       d = Conv(r, w2) @d {pads = [1, 1, 1, 1], strides = [2, 2], group = 19}
       a = Add(d, d) @a
       p = MaxPool(a) @p {kernel_shape = [2, 2]}
       y = Conv(p, w3) @y
       output c
       output y
     })"},
    {"functions", R"(graph "functions" {
       opset 28
       input x: float32[3,37]
       const w: float32[37,13] = random(1)
       m = MatMul(x, w) @m
       s = Softmax(m) @s
       t = Tanh(m) @t
       e = Erf(m) @e
       g = Sigmoid(x) @g
       q = Mul(x, g) @q
       y = Concat(s, t, e) @y {axis = 1}
       output y
       output q
     })"},
    {"integers", R"(graph "integers" {
       opset 28
       input x: uint8[2,11]
       input z: int32[2,11]
       f = Cast(x) @f {to = 1}
       g = Cast(z) @g {to = 1}
       y = Add(f, g) @y
       b = Greater(f, g) @b
       t = Transpose(z) @t {perm = [1, 0]}
       output y
       output b
       output t
     })"},
    {"quantised", R"(graph "quantised" {
       opset 21
       input x: int8[1,16,9,7]
       const w: int8[24,16,3,3] = random(1)
       const xs: float32[] = {0.05}
       const ws: float32[] = {0.02}
       const ys: float32[] = {0.5}
       const xz: int8[] = {3}
       const wz: int8[] = {0}
       const yz: int8[] = {-5}
       a = DequantizeLinear(x, xs, xz) @a
       b = DequantizeLinear(w, ws, wz) @b
       c = Conv(a, b) @c {pads = [1, 1, 1, 1]}
       y = QuantizeLinear(c, ys, yz) @y
       output y
     })"},
    // A fused multiply-add would round some of so many sums to another integer.
    {"sums", R"(graph "sums" {
       opset 21
       input a: uint8[1,16,64,64]
       input b: uint8[1,16,64,64]
       const as: float32[] = {0.1}
       const bs: float32[] = {0.3}
       const ys: float32[] = {0.2}
       const az: uint8[] = {3}
       const bz: uint8[] = {120}
       const yz: uint8[] = {17}
       p = DequantizeLinear(a, as, az) @p
       q = DequantizeLinear(b, bs, bz) @q
       s = Add(p, q) @s
       y = QuantizeLinear(s, ys, yz) @y
       output y
     })"},
    {"samples", R"(graph "samples" {
       opset 28
       input x: float32[4,8,24,24]
       const w1: float32[32,8,3,3] = random(1)
       const w2: float32[32,32,3,3] = random(2)
       c = Conv(x, w1) @c {pads = [1, 1, 1, 1]}
       r = Relu(c) @r
       d = Conv(r, w2) @d {pads = [1, 1, 1, 1]}
       y = GlobalAveragePool(d) @y
       output y
     })"},
    {"attention", attention_text("21", "18", "uint8", 131, "int8", R"(
  const w: int8[9,21] = random(2)
  w.real = DequantizeLinear(w, t, u) @left
  l = MatMul(w.real, x.real) @of_a_constant
  output l)")},
};

inline bool is_here(const char* command) {
  try {
    return run_process({command, "--version"}, "", 20).exit_code == 0;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace dnn
