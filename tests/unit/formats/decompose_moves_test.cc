// Operators that move or choose elements, and recurrent layers, in simpler ones: each definition computes what the operator does.
#include <gtest/gtest.h>

#include "base/error.h"
#include "formats/decompose.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"

namespace dnn {
namespace {

struct MovingCase {
  const char* op;
  std::string text;  // of the graph; its first node is the operator
};

std::string grid(const std::string& attributes) {
  return "input x: float32[2,3,5,4]\n  input g: float32[2,3,2,2]\n  y = GridSample(x, g) {" + attributes + "}";
}

// A MaxUnpool among others, in front of the MaxPool whose places it reads.
std::string unpooled(const std::string& shape) {
  return "input x: float32[2,3,6,8]\n  const s: int64[4] = {2, 3, 7, 9}\n  p, i = MaxPool(x) {kernel_shape = [2, 2], "
         "strides = [2, 2]}\n  y = MaxUnpool(p, i" +
         shape + ") {kernel_shape = [2, 2], strides = [2, 2]}";
}

std::string regions(const std::string& attributes) {
  return "input x: float32[2,3,8,7]\n  const r: float32[4,4] = {0, 0, 7, 6, 1.5, 2.25, 19, 12, -3, -2, 4, 5, 3, 3, "
         "3.25, "
         "3.125}\n  const b: int64[4] = {0, 1, 1, 0}\n  y = RoiAlign(x, r, b) {" +
         attributes + "output_height = 3, output_width = 2, sampling_ratio = 2, spatial_scale = 0.5}";
}

std::string recurrent(const std::string& op, int64_t directions, int64_t gates, const std::string& inputs,
                      const std::string& attributes) {
  const std::string width = std::to_string(gates * 3), all = std::to_string(directions);
  return cat("input x: float32[4,2,5]\n  input h: float32[", all, ",2,3]\n  input c: float32[", all,
             ",2,3]\n  const w: float32[", all, ",", width, ",5] = random(1)\n  const r: float32[", all, ",", width,
             ",3] = random(2)\n  const b: float32[", all, ",", gates * 6, "] = random(3)\n  const p: float32[", all,
             ",9] = random(4)\n  const n: int32[2] = {4, 4}\n  y, z", op == "LSTM" ? ", v" : "", " = ", op, "(", inputs,
             ") {", attributes, "}\n  output z", op == "LSTM" ? "\n  output v" : "");
}

std::vector<MovingCase> moving_cases() {
  const std::string four = "input x: float32[4,5]\n  ",
                    table = four + "const i: int64[2,5] = {0, 1, 2, 3, 0, -1, -2, 1, 0, 2}\n  ";
  return {
      {"LpNormalization", four + "y = LpNormalization(x) {axis = 1, p = 1}"},
      {"LpNormalization", four + "y = LpNormalization(x) {axis = 0}"},
      {"LpNormalization", four + "z = Sub(x, x)\n  y = LpNormalization(z)"},
      {"LpPool",
       "input x: float32[1,2,5,5]\n  y = LpPool(x) {kernel_shape = [2, 3], strides = [2, 1], pads = [0, 1, 0, 1]}"},
      {"LpPool", "input x: float32[1,2,5,5]\n  y = LpPool(x) {kernel_shape = [2, 2], p = 1}"},
      {"GlobalLpPool", "input x: float32[1,2,3,4]\n  y = GlobalLpPool(x) {p = 1}"},
      {"GlobalLpPool", "input x: float32[1,2,3,4]\n  y = GlobalLpPool(x)"},
      {"MeanVarianceNormalization", "input x: float32[2,3,4,4]\n  y = MeanVarianceNormalization(x)"},
      {"MeanVarianceNormalization", "input x: float32[2,3,4,4]\n  y = MeanVarianceNormalization(x) {axes = [1]}"},
      {"RMSNormalization",
       four + "const s: float32[5] = random(1)\n  y = RMSNormalization(x, s) {axis = -1, epsilon = 0.5}"},
      {"Shrink", four + "y = Shrink(x) {lambd = 0.25, bias = 0.125}"},
      {"Hardmax", four + "y = Hardmax(x) {axis = 0}"},
      {"Trilu", four + "y = Trilu(x)"},
      {"Trilu", four + "const k: int64[] = {-1}\n  y = Trilu(x, k) {upper = 0}"},
      {"CenterCropPad", four + "const s: int64[2] = {7, 2}\n  y = CenterCropPad(x, s)"},
      {"CenterCropPad", four + "const s: int64[1] = {4}\n  y = CenterCropPad(x, s) {axes = [-1]}"},
      {"OneHot",
       "input x: float32[4,5]\n  const d: int64[] = {5}\n  const v: float32[2] = {-1, 2}\n  const i: int64[3] = {1, "
       "-2, 7}\n  y = "
       "OneHot(i, d, v) {axis = 0}"},
      {"OneHot",
       "input x: float32[4,5]\n  input v: float32[2]\n  const d: int64[1] = {5}\n  i = ArgMax(x) {keepdims = 0}\n  y = "
       "OneHot(i, "
       "d, v)"},
      {"GatherElements", table + "y = GatherElements(x, i) {axis = 0}"},
      {"GatherElements", four + "i = ArgMax(x) {axis = 1}\n  y = GatherElements(x, i) {axis = -1}"},
      {"GatherND", four + "const i: int64[3,2] = {0, 1, -1, -2, 2, 2}\n  y = GatherND(x, i)"},
      {"GatherND", "input x: float32[5,4]\n  i = ArgMax(x) {axis = 1}\n  y = GatherND(x, i)"},
      {"ScatterElements", table + "input u: float32[2,5]\n  y = ScatterElements(x, i, u)"},
      {"ScatterND", four + "const i: int64[3,1] = {2, -1, 2}\n  input u: float32[3,5]\n  y = ScatterND(x, i, u)"},
      {"ScatterElements", four + "input u: float32[4,1]\n  i = ArgMax(x) {axis = 1}\n  const three: int64[] = {3}\n  j "
                                 "= Sub(i, three)\n  y = "
                                 "ScatterElements(x, j, u) {axis = 1}"},
      {"ScatterElements",
       four +
           "input u: float32[3,5]\n  i = ArgMax(u)\n  j = Concat(i, i, i) {axis = 0}\n  y = ScatterElements(x, j, u) "
           "{reduction = \"mul\"}"},
      {"ScatterND",
       four +
           "input z: float32[5,2,3]\n  input u: float32[4,2,3]\n  i = ArgMax(x) {axis = 1}\n  y = ScatterND(z, i, u) "
           "{reduction = \"max\"}"},
      {"ScatterND",
       four + "const i: int64[3,1] = {2, -1, 2}\n  input u: float32[3,5]\n  y = ScatterND(x, i, u) {reduction "
              "= \"add\"}"},
      {"MaxPool",
       "input x: float32[2,3,7,6]\n  y, z = MaxPool(x) {kernel_shape = [2, 3], strides = [1, 2], dilations = [2, 1], "
       "pads "
       "= [0, 1, 1, 0], ceil_mode = 1}\n  output z"},
      {"MaxPool", "input x: float32[2,3,9]\n  y, z = MaxPool(x) {kernel_shape = [3], strides = [2]}\n  output z"},
      {"MaxUnpool", unpooled("")},
      {"MaxUnpool", unpooled(", s")},
      {"RoiAlign", regions("")},
      {"RoiAlign", regions("mode = \"max\", ")},
      {"RoiAlign", regions("coordinate_transformation_mode = \"output_half_pixel\", ")},
      {"ReverseSequence", "input x: float32[4,3,2]\n  const n: int64[3] = {4, 1, 3}\n  y = ReverseSequence(x, n)"},
      {"ReverseSequence",
       "input x: float32[3,4,2]\n  const n: int64[3] = {4, 1, 3}\n  y = ReverseSequence(x, n) {batch_axis = 0, "
       "time_axis "
       "= 1}"},
      {"GridSample", grid("")},
      {"GridSample", grid("align_corners = 1")},
      {"GridSample", grid("mode = \"nearest\"")},
      {"GridSample", grid("padding_mode = \"border\"")},
      {"GridSample", grid("padding_mode = \"reflection\"")},
      {"GridSample", grid("padding_mode = \"reflection\", align_corners = 1")},
      {"GridSample", grid("padding_mode = \"reflection\", mode = \"nearest\"")},
      {"LSTM", recurrent("LSTM", 1, 4, "x, w, r", "hidden_size = 3")},
      {"LSTM", recurrent("LSTM", 2, 4, "x, w, r, b, n, h, c, p", "hidden_size = 3, direction = \"bidirectional\"")},
      {"LSTM", recurrent("LSTM", 1, 4, "x, w, r, b, _, h", "hidden_size = 3, direction = \"reverse\"")},
      {"GRU", recurrent("GRU", 1, 3, "x, w, r", "hidden_size = 3")},
      {"GRU", recurrent("GRU", 2, 3, "x, w, r, b, _, h", "hidden_size = 3, direction = \"bidirectional\"")},
      {"GRU", recurrent("GRU", 1, 3, "x, w, r, b, _, h", "hidden_size = 3, linear_before_reset = 1")},
      {"GRU",
       recurrent("GRU", 1, 3, "x, w, r, b", "hidden_size = 3, linear_before_reset = 1, direction = \"reverse\"")},
      {"RNN", recurrent("RNN", 1, 1, "x, w, r, b, _, h", "hidden_size = 3")},
      {"RNN", recurrent("RNN", 2, 1, "x, w, r",
                        "hidden_size = 3, direction = \"bidirectional\", activations = [\"Relu\", \"Relu\"]")},
  };
}

Tensor filled(const Type& type) {  // beyond -1 and 1, where a grid leaves the image
  Tensor x(DType::Float32, type.fixed_shape());
  for (int64_t i = 0; i < x.size(); ++i)
    x.mutable_data<float>()[i] = static_cast<float>(static_cast<double>(i * 37 % 101) / 101 * 3.2 - 1.6);
  return x;
}

TEST(DecomposeMoves, DefinitionsComputeWhatTheirOperatorsDo) {
  for (const MovingCase& one : moving_cases()) {
    SCOPED_TRACE(one.text);
    Graph before = parse_graph("graph \"g\" {\n  opset 23\n  " + one.text + "\n  output y\n}");
    infer_types(before);
    Graph after = before;
    const auto takes = [&](const Node& node) {
      return node.op != one.op || (node.op == "MaxPool" && !makes_places(node));
    };
    decompose(after, takes);
    ASSERT_NO_THROW(verify(after));
    for (NodeId id : after.order()) EXPECT_TRUE(takes(after.node(id))) << "it is still there";
    std::vector<Tensor> inputs;
    for (ValueId id : before.inputs) inputs.push_back(filled(before.value(id).type));
    const std::vector<Tensor> expected = interpret(before, inputs), got = interpret(after, inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(expected[i].shape(), got[i].shape());
      ASSERT_EQ(expected[i].dtype(), got[i].dtype());
      const std::vector<double> a = to_doubles(expected[i]), b = to_doubles(got[i]);
      for (size_t k = 0; k < a.size(); ++k) ASSERT_NEAR(a[k], b[k], 2e-5) << "output " << i << ", " << k;
    }
  }
}

// Places or numbers of steps that are known only when the network runs, or that no definition is for.
TEST(DecomposeMoves, LeavesWhatItHasNoDefinitionFor) {
  const std::string x = "input x: float32[4,5]\n  ";
  const std::vector<MovingCase> left = {
      {"ScatterElements",
       "input x: float32[N,5]\n  input u: float32[N,1]\n  i = ArgMax(x) {axis = 1}\n  y = ScatterElements(x, i, u) "
       "{axis = "
       "1}"},
      {"ScatterND",
       "input x: float32[N,5]\n  const i: int64[1,1] = {0}\n  input u: float32[1,5]\n  y = ScatterND(x, i, u)"},
      {"MaxPool", "input x: float32[N,3,4,4]\n  y, z = MaxPool(x) {kernel_shape = [2, 2]}\n  output z"},
      {"RoiAlign",
       "input x: float32[1,1,4,4]\n  const r: float32[1,4] = {0, 0, 2, 2}\n  const b: int64[1] = {0}\n  y = "
       "RoiAlign(x, r, "
       "b)"},
      {"NonMaxSuppression", "input x: float32[1,9,4]\n  input s: float32[1,1,9]\n  y = NonMaxSuppression(x, s)"},
      {"GatherElements", "input x: float32[N,5]\n  i = ArgMax(x) {axis = 1}\n  y = GatherElements(x, i) {axis = 1}"},
      {"OneHot",
       "input x: int64[3]\n  const d: int64[1] = {4}\n  const v: string[2] = {\"a\", \"b\"}\n  y = OneHot(x, d, v)"},
      {"GridSample", grid("mode = \"cubic\"")},
      {"LSTM",
       recurrent("LSTM", 1, 4, "x, w, r", "hidden_size = 3, activations = [\"HardSigmoid\", \"Tanh\", \"Tanh\"]")},
      {"RNN", recurrent("RNN", 1, 1, "x, w, r", "hidden_size = 3, activations = [\"Softsign\"]")},
  };
  for (const MovingCase& one : left) {
    Graph graph = parse_graph("graph \"g\" {\n  opset 23\n  " + one.text + "\n  output y\n}");
    infer_types(graph);
    const std::string before = to_text(graph);
    decompose(graph, [&](const Node& node) { return node.op != one.op; });
    EXPECT_EQ(to_text(graph), before) << one.text;
  }
}

// Image by image and class by class, as other formats have it; boxes by their centres come to corners.
TEST(DecomposeMoves, BoxesAreSuppressedClassByClass) {
  for (const char* attributes : {"", " {center_point_box = 1}"}) {
    Graph before = parse_graph(
        cat("graph \"g\" {\n  opset 23\n  input b: float32[2,40,4]\n  input s: float32[2,3,40]\n  const m: int64[] = "
            "{30}\n  "
            "const o: float32[] = {0.25}\n  const l: float32[] = {-0.5}\n  y = NonMaxSuppression(b, s, m, o, l)",
            attributes, "\n  output y\n}"));
    infer_types(before);
    Graph after = before;
    decompose(after, [&](const Node& node) { return node.op != "NonMaxSuppression" || suppresses_once(after, node); });
    ASSERT_NO_THROW(verify(after));
    int runs = 0;
    for (NodeId id : after.order()) {
      if (after.node(id).op != "NonMaxSuppression") continue;
      EXPECT_TRUE(suppresses_once(after, after.node(id)));
      ++runs;
    }
    EXPECT_EQ(runs, 6);
    const std::vector<Tensor> inputs = {filled(before.value(before.inputs[0]).type),
                                        filled(before.value(before.inputs[1]).type)};
    const Tensor expected = interpret(before, inputs)[0], got = interpret(after, inputs)[0];
    EXPECT_GT(expected.dim(0), 12);
    EXPECT_LT(expected.dim(0), 180);
    EXPECT_EQ(to_int64s(got), to_int64s(expected));
  }
}

}  // namespace
}  // namespace dnn
