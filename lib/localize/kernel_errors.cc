// Kernels against the interpreter; see kernel_errors.h.
#include "localize/kernel_errors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tensor/compare.h"

namespace dnn {
namespace {

// Values of a graph while it runs, each held until its last reader is done.
class Values {
 public:
  explicit Values(const Graph& graph) : graph_(graph), held_(graph.value_count()) {
    readers_.resize(held_.size(), 0);
    for (NodeId id : graph.order()) {
      for (ValueId v : read_by(id)) ++readers_[v];
    }
    for (ValueId v : graph.outputs) ++readers_[v];
  }
  void set(ValueId id, const Tensor& tensor) { held_[id] = tensor; }
  const Tensor& get(ValueId id) const {
    const Tensor& held = held_[id];
    const Tensor* constant = graph_.constant(id);
    return held.defined() || constant == nullptr ? held : *constant;
  }
  std::vector<Tensor> interpret(NodeId id) const {
    const Node& node = graph_.node(id);
    std::vector<const Tensor*> inputs;
    for (ValueId v : node.inputs) inputs.push_back(v == kNoValue ? nullptr : &get(v));
    std::map<std::string, Tensor> captured;
    for (ValueId v : captured_values(graph_, node)) captured[graph_.value(v).name] = get(v);
    return interpret_node(node, inputs, captured);
  }
  // After node `id` is done.
  void release(NodeId id) {
    for (ValueId v : read_by(id)) {
      if (--readers_[v] == 0) held_[v] = Tensor();
    }
  }

 private:
  std::vector<ValueId> read_by(NodeId id) const {
    std::vector<ValueId> read;
    for (ValueId v : graph_.node(id).inputs) {
      if (v != kNoValue) read.push_back(v);
    }
    for (ValueId v : captured_values(graph_, graph_.node(id))) read.push_back(v);
    return read;
  }

  const Graph& graph_;
  std::vector<Tensor> held_;
  std::vector<int> readers_;
};

Tensor error_tensor(const Tensor& got, const Tensor& expected) {
  const std::vector<double> a = to_doubles(got), b = to_doubles(expected);
  Tensor result(DType::Float64, expected.shape());
  double* out = result.mutable_data<double>();
  for (size_t i = 0; i < b.size(); ++i) out[i] = a[i] == b[i] ? 0 : a[i] - b[i];
  return result;
}

// What a type holds, of 64 bits what a double has digits for.
std::pair<double, double> range_of(DType dtype) {
  if (dtype == DType::Bool) return {0, 1};
  if (!is_integer(dtype)) return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const int bits = std::min(dtype_bits(dtype), 54);
  const bool sign = dtype_class(dtype) == DTypeClass::Signed;
  return {sign ? -std::ldexp(1.0, bits - 1) : 0, std::ldexp(1.0, sign ? bits - 1 : bits) - 1};
}

double element(const Tensor& tensor, int64_t i) { return i < 0 ? 0 : to_doubles(tensor)[i]; }

}  // namespace

double KernelError::relative() const {
  if (max_abs == 0) return 0;
  return largest == 0 ? std::numeric_limits<double>::infinity() : max_abs / largest;
}

std::vector<KernelError> kernel_errors(Session& session, const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<KernelError> errors;
  Values values(graph);
  const Uses uses(graph);
  std::map<NodeId, size_t> waiting;  // outputs of a node that were not seen yet
  const Graph* own = &session.graph();
  session.trace(inputs, [&](const Graph& shown, ValueId id, const Tensor& tensor) {
    if (&shown != own) return;  // a subgraph's own values
    values.set(id, tensor);
    const NodeId node_id = uses.producer[id];
    if (node_id < 0) return;
    const Node& node = graph.node(node_id);
    if (waiting.count(node_id) == 0) {
      size_t n = 0;
      for (ValueId v : node.outputs) n += v == kNoValue ? 0 : 1;
      waiting[node_id] = n;
    }
    if (--waiting[node_id] > 0) return;
    const std::vector<Tensor> expected = values.interpret(node_id);
    KernelError error;
    error.node = node_id;
    error.difference.resize(node.outputs.size());
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      const Tensor& got = values.get(node.outputs[i]);
      if (!is_float(got.dtype()) && !is_integer(got.dtype()) && got.dtype() != DType::Bool) continue;
      if (got.size() != expected[i].size()) continue;  // an extent that only the run knows: the interpreter's own
      const Distance d = compare(expected[i], got);
      if (d.n_different == 0) continue;
      error.difference[i] = error_tensor(got, expected[i]);
      if (d.max_abs < error.max_abs) continue;
      error.max_abs = d.max_abs;
      error.largest = d.largest;
      error.at = d.max_abs_index;
      error.output = i;
      error.expected = element(expected[i], d.max_abs_index);
      error.got = element(got, d.max_abs_index);
    }
    if (error.at >= 0) errors.push_back(std::move(error));
    values.release(node_id);
  });
  return errors;
}

std::vector<Tensor> interpret_changed(const Graph& graph, const std::vector<Tensor>& inputs,
                                      const std::function<void(NodeId node, std::vector<Tensor>* outputs)>& change) {
  Values values(graph);
  for (size_t i = 0; i < inputs.size(); ++i) values.set(graph.inputs[i], inputs[i]);
  for (NodeId id : graph.order()) {
    std::vector<Tensor> outputs = values.interpret(id);
    change(id, &outputs);
    const Node& node = graph.node(id);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) values.set(node.outputs[i], outputs[i]);
    }
    values.release(id);
  }
  std::vector<Tensor> results;
  for (ValueId id : graph.outputs) results.push_back(values.get(id));
  return results;
}

Tensor added(const Tensor& a, const Tensor& b) {
  if (!b.defined() || b.size() != a.size()) return a;
  const auto [low, high] = range_of(a.dtype());
  const std::vector<double> x = to_doubles(a), y = to_doubles(b);
  Tensor sum(DType::Float64, a.shape());
  double* out = sum.mutable_data<double>();
  for (size_t i = 0; i < x.size(); ++i) out[i] = std::clamp(x[i] + y[i], low, high);
  return convert(sum, a.dtype());
}

}  // namespace dnn
