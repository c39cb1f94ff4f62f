// Old operator versions become today's: text of the old nodes in, text of the IR's nodes out.
#include "formats/onnx/upgrade.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace dnn::onnx {
namespace {

// The body (statements) upgraded from `opset`; inputs and outputs as given.
std::string upgraded(int opset, const std::string& body) {
  Graph graph = parse_graph("graph {\n" + body + "}");
  upgrade(graph, std::vector<int>(static_cast<size_t>(graph.node_slots()), opset), nullptr, {});
  verify(graph);
  const std::string text = to_text(graph);
  std::string out;
  for (const std::string& line : split(text, '\n')) {
    if (starts_with(line, "  ")) out += line.substr(2) + "\n";
  }
  return out;
}

struct UpgradeCase {
  int opset;
  const char* before;
  const char* after;
};

void check(const std::vector<UpgradeCase>& cases) {
  for (const UpgradeCase& c : cases) {
    EXPECT_EQ(upgraded(c.opset, c.before), c.after) << "from opset " << c.opset << ":\n" << c.before;
  }
}

TEST(Upgrade, AttributesThatBecameInputs) {
  check({
      {9, "input x: float16[2,3]\ny = Clip(x) {max = 6.0, min = 0.0}\noutput y\n",
       "input x: float16[2,3]\nconst y_min: float16[] = {0}\nconst y_max: float16[] = {6}\ny = Clip(x, y_min, "
       "y_max)\noutput y\n"},
      {6, "input x\ny = Clip(x) {max = 6.0}\noutput y\n",
       "input x\nconst y_max: float32[] = {6}\ny_CastLike = CastLike(y_max, x) @y_CastLike\ny = Clip(x, _, "
       "y_CastLike)\noutput y\n"},
      {11, "input x\ny = ReduceMean(x) {axes = [2, 3], keepdims = 0}\noutput y\n",
       "input x\nconst y_axes: int64[2] = {2, 3}\ny = ReduceMean(x, y_axes) {keepdims = 0}\noutput y\n"},
      {12, "input x\ny = ReduceSum(x)\noutput y\n", "input x\ny = ReduceSum(x)\noutput y\n"},
      {11, "input x\ny = Squeeze(x) {axes = [0]}\nz = Unsqueeze(y) {axes = [1]}\noutput z\n",
       "input x\nconst y_axes: int64[1] = {0}\ny = Squeeze(x, y_axes)\nconst z_axes: int64[1] = {1}\nz = Unsqueeze(y, "
       "z_axes)\noutput z\n"},
      {9, "input x\ny = Slice(x) {ends = [3], starts = [1]}\noutput y\n",
       "input x\nconst y_starts: int64[1] = {1}\nconst y_ends: int64[1] = {3}\ny = Slice(x, y_starts, y_ends)\noutput "
       "y\n"},
      {1, "input x\ny = Reshape(x) {shape = [0, -1]}\noutput y\n",
       "input x\nconst y_shape: int64[2] = {0, -1}\ny = Reshape(x, y_shape)\noutput y\n"},
      {2, "input x: float32[2]\ny = Pad(x) {mode = \"constant\", pads = [1, 0], value = 2.5}\noutput y\n",
       "input x: float32[2]\nconst y_pads: int64[2] = {1, 0}\nconst y_value: float32[] = {2.5}\ny = Pad(x, y_pads, "
       "y_value) {mode = "
       "\"constant\"}\noutput y\n"},
      {9, "input x\ny, i = TopK(x) {k = 5}\noutput y\n",
       "input x\nconst y_k: int64[1] = {5}\ny, i = TopK(x, y_k)\noutput y\n"},
      {11, "input x\ny = Dropout(x) {ratio = 0.3}\noutput y\n",
       "input x\nconst y_ratio: float32[] = {0.3}\ny = Dropout(x, y_ratio)\noutput y\n"},
      {9, "input x\ny, mask = Dropout(x) {ratio = 0.3}\noutput y\n",
       "input x\nconst y_ratio: float32[] = {0.3}\ny = Dropout(x, y_ratio)\noutput y\n"},
      {11, "input x\na, b = Split(x) {axis = 1, split = [2, 3]}\noutput a\n",
       "input x\nconst a_split: int64[2] = {2, 3}\na, b = Split(x, a_split) {axis = 1}\noutput a\n"},
      {13, "input x\na, b = Split(x) {axis = 1}\noutput a\n",
       "input x\na, b = Split(x) {axis = 1, num_outputs = 2}\noutput a\n"},
      {17, "input x\ny = DFT(x)\noutput y\n",
       "input x\nconst y_axis: int64[] = {1}\ny = DFT(x, _, y_axis)\noutput y\n"},
  });
}

TEST(Upgrade, SoftmaxOfOpset12SeesAMatrix) {
  check({
      {7, "input x: float32[2,1000]\ny = Softmax(x)\noutput y\n",
       "input x: float32[2,1000]\ny = Softmax(x) {axis = 1}\noutput y\n"},
      {12, "input x\ny = LogSoftmax(x) {axis = -1}\noutput y\n", "input x\ny = LogSoftmax(x) {axis = -1}\noutput y\n"},
      {9, "input x: float32[1,10,1,1]\ny = Softmax(x)\noutput y\n",
       "input x: float32[1,10,1,1]\ny_Shape: int64[4] = Shape(x) @y_Shape\ny_Flatten: float32[?,?] = Flatten(x) "
       "@y_Flatten {axis = 1}\n"
       "y_rows = Softmax(y_Flatten) {axis = -1}\ny = Reshape(y_rows, y_Shape) @y_rows_Reshape\noutput y\n"},
      {13, "input x\ny = Softmax(x) {axis = 1}\noutput y\n", "input x\ny = Softmax(x) {axis = 1}\noutput y\n"},
  });
}

TEST(Upgrade, BroadcastingOfOpset6) {
  check({
      {6, "input a: float32[2,3,4,5]\ninput b: float32[3]\ny = Add(a, b) {axis = 1, broadcast = 1}\noutput y\n",
       "input a: float32[2,3,4,5]\ninput b: float32[3]\nconst y_axes: int64[2] = {1, 2}\ny_Unsqueeze = Unsqueeze(b, "
       "y_axes) @y_Unsqueeze\n"
       "y = Add(a, y_Unsqueeze)\noutput y\n"},
      {1, "input a\ninput b\ny = Mul(a, b) {broadcast = 1, consumed_inputs = [0, 0]}\noutput y\n",
       "input a\ninput b\ny = Mul(a, b)\noutput y\n"},
      {6, "input x: float32[1,4,8,8]\ninput s: float32[4]\ny = PRelu(x, s)\noutput y\n",
       "input x: float32[1,4,8,8]\ninput s: float32[4]\nconst y_axes: int64[2] = {1, 2}\ny_Unsqueeze = Unsqueeze(s, "
       "y_axes) @y_Unsqueeze\n"
       "y = PRelu(x, y_Unsqueeze)\noutput y\n"},
      {6, "input a\ninput b\ny = Gemm(a, b, a) {broadcast = 1, transB = 1}\noutput y\n",
       "input a\ninput b\ny = Gemm(a, b, a) {transB = 1}\noutput y\n"},
  });
}

TEST(Upgrade, BatchNormalizationInfersWhereItHasOneOutput) {
  check({
      {6, "input x\ny = BatchNormalization(x, x, x, x, x) {is_test = 1, spatial = 1}\noutput y\n",
       "input x\ny = BatchNormalization(x, x, x, x, x)\noutput y\n"},
      {7, "input x\ny, m, v = BatchNormalization(x, x, x, x, x)\noutput y\n",
       "input x\ny, m, v = BatchNormalization(x, x, x, x, x) {training_mode = 1}\noutput y\n"},
      {7, "input x: float32[1,2]\ny = BatchNormalization(x, x, x, x, x) {epsilon = 0.5, spatial = 0}\noutput y\n",
       "input x: float32[1,2]\ny_Sub: float32[1,2] = Sub(x, x) @y_Sub\nconst y_epsilon: float32[] = {0.5}\n"
       "y_Add: float32[1,2] = Add(x, y_epsilon) @y_Add\ny_Sqrt: float32[1,2] = Sqrt(y_Add) @y_Sqrt\n"
       "y_Div: float32[1,2] = Div(y_Sub, y_Sqrt) @y_Div\ny_Mul: float32[1,2] = Mul(y_Div, x) @y_Mul\ny = Add(y_Mul, "
       "x)\noutput y\n"},
  });
}

TEST(Upgrade, UpsampleAndResize) {
  check({
      {7, "input x\ny = Upsample(x) {mode = \"nearest\", scales = [1.0, 1.0, 2.0, 2.0]}\noutput y\n",
       "input x\nconst y_scales: float32[4] = {1, 1, 2, 2}\ny = Resize(x, _, y_scales) {coordinate_transformation_mode "
       "= \"asymmetric\", "
       "mode = \"nearest\", nearest_mode = \"floor\"}\noutput y\n"},
      {10, "input x\nconst s: float32[2] = {1, 0.6}\ny = Resize(x, s)\noutput y\n",
       "input x\nconst s: float32[2] = {1, 0.6}\ny = Resize(x, _, s) {coordinate_transformation_mode = \"asymmetric\", "
       "nearest_mode = "
       "\"ceil\"}\noutput y\n"},
      {11,
       "input x\nconst e: float32[0] = {}\nconst s: int64[2] = {4, 4}\ny = Resize(x, e, e, s) {mode = "
       "\"linear\"}\noutput y\n",
       "input x\nconst s: int64[2] = {4, 4}\ny = Resize(x, _, _, s) {mode = \"linear\"}\noutput y\n"},
  });
}

TEST(Upgrade, ChangedDefaultsAreSpelledOut) {
  check({
      {1, "input x\ny = Selu(x)\noutput y\n", "input x\ny = Selu(x) {alpha = 1.6732, gamma = 1.0507}\noutput y\n"},
      {1, "input x\ny = Concat(x, x)\noutput y\n", "input x\ny = Concat(x, x) {axis = 1}\noutput y\n"},
      {1, "input x\ny = Cast(x) {to = \"FLOAT16\"}\noutput y\n", "input x\ny = Cast(x) {to = 10}\noutput y\n"},
      {10, "input x\ny = RoiAlign(x, x, x)\noutput y\n",
       "input x\ny = RoiAlign(x, x, x) {coordinate_transformation_mode = \"output_half_pixel\"}\noutput y\n"},
      {16, "input x\ny = GridSample(x, x)\noutput y\n",
       "input x\ny = GridSample(x, x) {mode = \"linear\"}\noutput y\n"},
      {9, "input x\ny = Scatter(x, x, x)\noutput y\n", "input x\ny = ScatterElements(x, x, x)\noutput y\n"},
  });
}

TEST(Upgrade, OtherDomainsPassThrough) {
  check({{11, "input x\ny = com.microsoft::CropAndResize(x) {axes = [1]}\noutput y\n",
          "input x\ny = com.microsoft::CropAndResize(x) {axes = [1]}\noutput y\n"}});
}

TEST(Upgrade, RefusesByName) {
  const std::pair<int, std::pair<const char*, const char*>> cases[] = {
      {13,
       {"input x\ny = Gelu(x) @g\noutput y\n",
        "node 'g' (Gelu): the operator begins at opset 20, the model is written in 13"}},
      {13,
       {"input x\ny = Nothing(x)\noutput y\n",
        "node of 'y' (Nothing): no opset of ai.onnx up to 28 has this operator"}},
      {10,
       {"input x\ninput s\ny = Resize(x, s) @r\noutput y\n",
        "node 'r' (Resize): nearest with scales computed at run time may grow or shrink and has no newer form"}},
      {9,
       {"input x\ny, m = Dropout(x) @d\noutput y\noutput m\n",
        "node 'd' (Dropout): a Dropout mask in the type of the data (opset 9 and older) has no newer form"}},
      {8,
       {"input x\ny = Scan(_, x) @s\noutput y\n",
        "node 's' (Scan): Scan of opset 8 runs per sample of a batch and has no newer form"}},
  };
  for (const auto& [opset, texts] : cases) {
    try {
      upgraded(opset, texts.first);
      FAIL() << texts.first;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), texts.second);
      EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    }
  }
}

}  // namespace
}  // namespace dnn::onnx
