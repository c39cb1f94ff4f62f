// Traces; see trace.h.
#include "infer/trace.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "compile/arithmetic.h"
#include "compile/precision.h"
#include "interp/interpreter.h"
#include "ops/movement.h"
#include "ops/op.h"

namespace dnn {
namespace {

std::string channel_first(size_t rank) {
  static const char* const names[] = {"", "", "NC", "NCW", "NCHW", "NCDHW"};
  return rank < std::size(names) ? names[rank] : "";
}

std::string permuted(const std::string& axes, const std::vector<int64_t>& perm) {
  std::string result;
  for (int64_t p : perm) {
    if (p < 0 || p >= static_cast<int64_t>(axes.size())) return "";
    result += axes[p];
  }
  return result;
}

class Axes {
 public:
  explicit Axes(const Graph& graph) : graph_(graph), axes_(graph.value_count()) {}

  std::vector<std::string> find() {
    for (NodeId id : graph_.order()) seed(graph_.node(id));
    // What is known travels along elementwise operators and transposes, both ways, until nothing changes.
    for (bool changed = true; changed;) {
      changed = false;
      for (NodeId id : graph_.order()) changed |= spread(graph_.node(id));
      for (auto it = graph_.order().rbegin(); it != graph_.order().rend(); ++it) changed |= spread(graph_.node(*it));
    }
    return std::move(axes_);
  }

 private:
  size_t rank(ValueId id) const {
    const Type& type = graph_.value(id).type;
    return type.shape ? type.shape->size() : 0;
  }
  bool set(ValueId id, const std::string& axes) {
    if (id == kNoValue || axes.empty() || rank(id) != axes.size()) return false;
    std::string& known = axes_[id];
    if (!known.empty()) return false;
    known = axes;
    return true;
  }
  const std::string& get(ValueId id) const {
    static const std::string none;
    return id == kNoValue ? none : axes_[id];
  }

  void seed(const Node& node) {
    if (!node.domain.empty()) return;
    if (has_trait(node, Trait::ChannelsFirst)) {
      for (ValueId id : {node.input(0), node.output(0)}) {
        if (id != kNoValue && rank(id) >= 2) set(id, channel_first(rank(id)));
      }
    } else if (node.op == "Gemm" || node.op == "Flatten") {
      set(node.output(0), "NC");
    }
  }

  bool spread(const Node& node) {
    const ValueId in = node.input(0), out = node.output(0);
    if (in == kNoValue || out == kNoValue || !node.domain.empty()) return false;
    if (node.op == "Transpose") {
      const std::vector<int64_t> perm = transpose_permutation(node, rank(in));
      if (!get(in).empty()) return set(out, permuted(get(in), perm));
      std::vector<int64_t> inverse(perm.size(), -1);
      for (size_t i = 0; i < perm.size(); ++i) {
        if (perm[i] >= 0 && perm[i] < static_cast<int64_t>(perm.size())) inverse[perm[i]] = static_cast<int64_t>(i);
      }
      return set(in, permuted(get(out), inverse));
    }
    if (node.op == "MatMul" || node.op == "Reshape" || node.op == "Gather" || node.op == "Gemm") return false;
    // An elementwise operator, by its types: every operand of the output's shape shares its axes.
    const Type& type = graph_.value(out).type;
    if (!type.shape) return false;
    bool changed = false;
    for (ValueId id : node.inputs) {
      if (id == kNoValue || graph_.value(id).type.shape != type.shape) continue;
      changed |= set(out, get(id));
      changed |= set(id, get(out));
    }
    return changed;
  }

  const Graph& graph_;
  std::vector<std::string> axes_;
};

// The source's inputs, and the values of its nodes with their nodes, but those that a reduced precision adds to the model's.
std::vector<std::pair<ValueId, std::string>> traced_values(const Graph& source, const Graph& model) {
  std::vector<std::pair<ValueId, std::string>> wanted;
  for (ValueId id : source.inputs) wanted.emplace_back(id, "");
  std::set<std::string_view> names;
  for (ValueId id = 0; id < model.value_count(); ++id) names.insert(model.value(id).name);
  for (NodeId id : source.order()) {
    for (ValueId out : source.node(id).outputs) {
      if (out != kNoValue && names.count(source.value(out).name) != 0) wanted.emplace_back(out, source.node(id).name);
    }
  }
  return wanted;
}

}  // namespace

std::vector<std::string> values_of_layers(const Graph& model, const std::vector<std::string>& layers) {
  std::map<std::string, std::vector<std::string>, std::less<>> by_name;
  for (NodeId id : model.order()) {
    const Node& node = model.node(id);
    for (ValueId out : node.outputs) {
      if (out != kNoValue) by_name[node.name].push_back(model.value(out).name);
    }
  }
  // A value comes before a node of the same name.
  for (NodeId id : model.order()) {
    for (ValueId out : model.node(id).outputs) {
      if (out != kNoValue) by_name[model.value(out).name] = {model.value(out).name};
    }
  }
  for (ValueId id : model.inputs) by_name[model.value(id).name] = {model.value(id).name};
  std::vector<std::string> values;
  for (const std::string& layer : layers) {
    const auto found = by_name.find(layer);
    if (found != by_name.end() && !layer.empty()) {
      values.insert(values.end(), found->second.begin(), found->second.end());
      continue;
    }
    std::vector<std::string> names;
    for (const auto& [name, ignored] : by_name) names.push_back(name);
    const std::string near = nearest_word(layer, names);
    fail_usage("the model has no layer '", layer, "'", near.empty() ? "" : cat("; did you mean '", near, "'?"),
               " (dnn-cat MODEL lists them)");
  }
  return values;
}

std::vector<std::string> logical_axes(const Graph& graph) { return Axes(graph).find(); }

std::vector<stream::TensorRecord> trace_run(Session& session, const std::vector<Tensor>& inputs) {
  const Package& package = session.package();
  std::map<std::string, Tensor, std::less<>> seen;
  std::map<std::string, std::string, std::less<>> made_by;
  const Uses uses(session.graph());
  session.trace(inputs, [&](const Graph& graph, ValueId id, const Tensor& tensor) {
    if (&graph != &session.graph()) return;  // a subgraph's own values
    const Value& value = graph.value(id);
    const NodeId producer = uses.producer[id];
    const std::string node = producer < 0 ? "" : graph.node(producer).name;
    seen[value.name] = tensor;
    made_by[value.name] = node;
    for (const std::string& alias : value.aliases) {
      seen[alias] = tensor;
      made_by[alias] = node;
    }
  });
  const Graph& model = package.source.graph();
  Graph source =
      in_arithmetic(at_element(model, dtype_from_name(package.info.dtype)), arithmetic_of(package.info.passes));
  infer_types(source);
  const std::vector<std::string> axes = logical_axes(source);

  const std::vector<std::pair<ValueId, std::string>> wanted = traced_values(source, model);
  const bool complete = std::all_of(wanted.begin(), wanted.end(), [&](const auto& value) {
    return source.is_input(value.first) || seen.count(source.value(value.first).name) != 0;
  });
  std::map<ValueId, Tensor> recomputed;
  if (!complete) {
    interpret(source, inputs, [&](const Graph& graph, ValueId id, const Tensor& tensor) {
      if (&graph == &source && seen.count(graph.value(id).name) == 0) recomputed[id] = tensor;
    });
  }
  std::vector<stream::TensorRecord> records;
  for (const auto& [id, node] : wanted) {
    stream::TensorRecord record;
    record.name = source.value(id).name;
    record.node = node;
    record.axes = axes[id];
    record.role = source.is_input(id)    ? stream::Role::Input
                  : source.is_output(id) ? stream::Role::Output
                                         : stream::Role::Activation;
    if (const auto it = seen.find(record.name); it != seen.end()) {
      record.tensor = it->second;
      if (!made_by[record.name].empty()) record.node = made_by[record.name];
    } else if (const auto again = recomputed.find(id); again != recomputed.end()) {
      record.tensor = again->second;
      record.recomputed = true;
    } else {
      continue;
    }
    if (record.tensor.defined()) records.push_back(std::move(record));
  }
  return records;
}

}  // namespace dnn
