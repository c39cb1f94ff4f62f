// Each case of export_cases.txt, written as TorchScript and as an exported program and read again: it computes what it computed.
#include <gtest/gtest.h>

#include <cmath>

#include "formats/torch/pt2.h"
#include "formats/torch/torchscript.h"
#include "interp/interpreter.h"
#include "unit/formats/torch/export_cases.h"

namespace dnn::torch {
namespace {

std::vector<dnn::Tensor> ramps(const Graph& graph) {
  std::vector<dnn::Tensor> inputs;
  for (ValueId id : graph.inputs) {
    const Type& type = graph.value(id).type;
    Shape shape;
    for (const Dim& dim : *type.shape) shape.push_back(dim.fixed() ? dim.size : 2);
    const bool real = is_float(type.dtype);
    std::vector<double> values(static_cast<size_t>(element_count(shape)));
    // Integers serve as indices, too.
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = real ? static_cast<double>((i * 29 + 5) % 31) / 17 - 0.9 : static_cast<double>((i * 7) % 3);
    inputs.push_back(convert(dnn::Tensor::of<double>(shape, values), type.dtype));
  }
  return inputs;
}

void expect_close(const Graph& graph, const Graph& again, const std::string& what) {
  const std::vector<dnn::Tensor> inputs = ramps(graph), before = interpret(graph, inputs),
                                 now = interpret(again, inputs);
  ASSERT_EQ(before.size(), now.size()) << what;
  for (size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(before[i].shape(), now[i].shape()) << what;
    EXPECT_EQ(before[i].dtype(), now[i].dtype()) << what;
    const std::vector<double> a = to_doubles(before[i]), b = to_doubles(now[i]);
    for (size_t k = 0; k < a.size(); ++k) {
      if (std::isnan(a[k]) && std::isnan(b[k])) continue;
      ASSERT_NEAR(a[k], b[k], 3e-6 * (1 + std::abs(a[k]))) << what << " at " << k;
    }
  }
}

template <class Write, class Read>
void round_trips(const Write& write, const Read& read, const std::string& path) {
  for (const ExportCase& c : export_cases()) {
    const Graph graph = graph_of(c.body);
    try {
      expect_close(graph, read(model_in_memory(path, write(graph, {}))), c.body);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what() << "\n" << c.body;
    }
  }
}

TEST(TorchRoundTrip, TorchScript) { round_trips(torchscript::to_files, torchscript::read, "g.pt"); }
TEST(TorchRoundTrip, ExportedPrograms) { round_trips(pt2::to_files, pt2::read, "g.pt2"); }

}  // namespace
}  // namespace dnn::torch
