// Transforms and attention in products of matrices: each definition computes what the operator does.
#include <gtest/gtest.h>

#include <cmath>

#include "formats/decompose.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

Graph transforming(const std::string& text) {
  Graph graph = parse_graph("graph \"g\" {\n  opset 28\n  " + text + "\n  output y\n}");
  infer_types(graph);
  return graph;
}

bool holds_op(const Graph& graph, const std::string& op) {
  for (NodeId id : graph.order()) {
    if (graph.node(id).op == op) return true;
  }
  return false;
}

Tensor waves_of(const Type& type, int64_t seed) {
  const Shape shape = type.fixed_shape();
  std::vector<double> values(element_count(shape));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = type.dtype == DType::Bool ? static_cast<double>((i * 5 + seed) % 3 != 0)
                                          : std::sin(static_cast<double>(i * i % 97) + static_cast<double>(seed));
  return convert(Tensor::of<double>(shape, values), type.dtype);
}

void check_decomposed(const std::string& op, const std::string& text, bool decomposes = true) {
  SCOPED_TRACE(text);
  const Graph before = transforming(text);
  Graph after = before;
  decompose(after, [&](const Node& node) { return node.op != op; });
  ASSERT_NO_THROW(verify(after));
  EXPECT_EQ(holds_op(after, op), !decomposes);
  std::vector<Tensor> inputs;
  for (ValueId v : before.inputs) inputs.push_back(waves_of(before.value(v).type, std::ssize(inputs)));
  const Tensor expected = interpret(before, inputs)[0], got = interpret(after, inputs)[0];
  ASSERT_EQ(expected.shape(), got.shape());
  const Distance d = compare(expected, got);
  EXPECT_LE(d.max_abs, (expected.dtype() == DType::Float64 ? 1e-13 : 3e-6) * std::max(1.0, d.largest));
}

TEST(DecomposeTransforms, Dft) {
  const char* const cases[] = {
      "input x: float32[2,8,1]\n  y = DFT(x)",
      "input x: float32[2,7,2]\n  y = DFT(x)",
      "input x: float32[2,8,1]\n  y = DFT(x) {onesided = 1}",
      "input x: float32[2,7,1]\n  y = DFT(x) {onesided = 1}",
      "input x: float32[2,5,3,1]\n  const n: int64[] = {6}\n  const a: int64[] = {1}\n  y = DFT(x, n, a)",
      "input x: float32[2,5,3,2]\n  const n: int64[] = {4}\n  const a: int64[] = {-3}\n  y = DFT(x, n, a)",
      "input x: float32[5,3,2]\n  const a: int64[] = {0}\n  y = DFT(x, _, a)",
      "input x: float64[2,6,2]\n  y = DFT(x) {inverse = 1}",
      "input x: float64[2,6,2]\n  const n: int64[] = {9}\n  y = DFT(x, n) {inverse = 1}",
      "input x: float32[2,5,2]\n  y = DFT(x) {inverse = 1, onesided = 1}",
      "input x: float32[2,5,2]\n  const n: int64[] = {9}\n  y = DFT(x, n) {inverse = 1, onesided = 1}",
      "input x: float32[2,5,2]\n  const n: int64[] = {6}\n  y = DFT(x, n) {inverse = 1, onesided = 1}",
      "input x: float32[2,5,2]\n  const n: int64[] = {12}\n  y = DFT(x, n) {inverse = 1, onesided = 1}",
      "input x: float32[2,1,1]\n  y = DFT(x)",
  };
  for (const char* text : cases) check_decomposed("DFT", text);
}

TEST(DecomposeTransforms, Col2Im) {
  const std::string image = "const s: int64[2] = {5, 6}\n  ";
  for (const std::string& text :
       {"input x: float32[2,12,20]\n  " + image + "const b: int64[2] = {2, 2}\n  y = Col2Im(x, s, b)",
        "input x: float32[1,6,12]\n  " + image + "const b: int64[2] = {1, 3}\n  y = Col2Im(x, s, b) {strides = [2, 1]}",
        "input x: float32[2,9,4]\n  " + image +
            "const b: int64[2] = {3, 3}\n  y = Col2Im(x, s, b) {strides = [2, 3], pads = [1, 0, 0, 2]}",
        "input x: float32[1,8,8]\n  " + image +
            "const b: int64[2] = {2, 2}\n  y = Col2Im(x, s, b) {dilations = [3, 2]}"})
    check_decomposed("Col2Im", text);
}

TEST(DecomposeTransforms, Attention) {
  const std::string four = "input q: float32[2,4,3,8]\n  input k: float32[2,4,5,8]\n  input v: float32[2,4,5,6]\n  ",
                    three = "input q: float32[2,3,32]\n  input k: float32[2,5,16]\n  input v: float32[2,5,12]\n  ",
                    heads = "q_num_heads = 4, kv_num_heads = 2";
  for (const std::string& text : {
           four + "y = Attention(q, k, v)",
           four + "y = Attention(q, k, v) {scale = 0.25, softcap = 0.5}",
           four + "y = Attention(q, k, v) {is_causal = 1}",
           four + "input m: float32[3,5]\n  y = Attention(q, k, v, m)",
           four + "input m: bool[2,1,3,5]\n  y = Attention(q, k, v, m)",
           four + "input m: bool[3,5]\n  y = Attention(q, k, v, m) {is_causal = 1}",
           four + "const m: bool[3,5] = {false, false, false, false, false, true, false, true, true, true, false, "
                  "false, true, false, "
                  "false}\n  y = Attention(q, k, v, m)",
           four + "input n: float32[3,5]\n  const o: float32[] = {0}\n  m = Log(o)\n  r = Add(m, n)\n"
                  "  y = Attention(q, k, v, r)",
           three + "y = Attention(q, k, v) {" + heads + "}",
           three + "input m: float32[4,3,5]\n  y = Attention(q, k, v, m) {is_causal = 1, " + heads + "}",
       })
    check_decomposed("Attention", text);
  for (const std::string& text : {
           four + "input m: float32[3,1]\n  y = Attention(q, k, v, m)",  // the other columns are hidden
           four + "y = Attention(q, k, v) {left_window_size = 1}",
           four + "input p: float32[2,4,2,8]\n  input o: float32[2,4,2,6]\n  y, a, b = Attention(q, k, v, _, p, o)",
       })
    check_decomposed("Attention", text, false);
}

}  // namespace
}  // namespace dnn
