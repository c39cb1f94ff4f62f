// Sums of products of 16-bit floats by dot products of two: the loops that they take, and vectors of them as C text.
//
// An instruction (VDPBF16PS) adds the products of two pairs to each of its sums, that of the odd elements first, each by one fused
// multiply-add of float32 numbers whose denormal ones count as 0, rounded to nearest, halves to even (Intel's manual, volume 2; AMD's
// Zen 4 gives the same bits). The loop IR has the same order, so that loops over the pair compute what the instruction does.
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "loops/ir.h"

namespace dnn::codegen {

// Elements of a reduction in one instruction.
inline constexpr int64_t kPair = 2;

// for v: N(S(v))   ->   for N: for v_o: for v_i < 2 (Matrix): S(2 * v_o + 1 - v_i)
// for the nest N of loops that v's loop holds. `body` as it is where there is no loop over v; its extent must be even.
loops::Stmt in_pairs(const loops::Stmt& body, const std::string& v);

// The constant that dot products may have as a factor in the sums of `body`: pairs along loop k lie side by side in its other factor, one of
// the buffers named `narrow`, which loop v does not move; the loops of the vectors, v, and k index the constant, which `may_pack` allows
// to be laid out for them. Null where there is none.
const loops::Buffer* factor_of_pairs(const loops::Stmt& body, const std::string& v, const std::string& k,
                                     const std::set<std::string>& narrow,
                                     const std::function<bool(const loops::Buffer&)>& may_pack);

// dot2_bf16_f32x16() and its kind for so many lanes, where `kernels` have it: f32 `s`, on by the products of a pair at x with one at w
// for each lane. By the instruction where the compiler may use it, else by multiply-adds to the same bits, where denormal numbers count
// as 0. The types that it names stand before it.
std::string dot_products(const std::string& kernels, int64_t lanes);

}  // namespace dnn::codegen
