// Reduced precision and back; see surgery.h.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "convert/surgery.h"
#include "graph/locate.h"
#include "graph/rename.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {
namespace {

// An operator that we do not have may take no halves either.
bool stays(const Node& node) {
  return find_op(node.domain, node.op) == nullptr || !node.domain.empty() || has_trait(node, Trait::Float32);
}

// Input slots that are float32 whatever the operator computes in.
bool stays(const Node& node, size_t input) {
  return stays(node) || (node.op == "Resize" && (input == 1 || input == 2));
}

class Switch {
 public:
  Switch(Graph& graph, DType to, DType io)
      : graph_(graph), from_(to == DType::Float16 ? DType::Float32 : DType::Float16), to_(to), io_(io) {}

  std::vector<std::string> run() {
    for (NodeId id : graph_.order()) {
      for (const auto& [key, attribute] : graph_.node(id).attributes) {
        if (std::holds_alternative<std::shared_ptr<const Graph>>(attribute))
          fail_unsupported(label_in(graph_, graph_.node(id)), ": ", dtype_name(to_), " inside of subgraphs");
      }
    }
    const std::vector<NodeId> order = graph_.order();
    const int values = graph_.value_count();
    for (ValueId v = 0; v < values; ++v) switch_value(v);
    if (to_ == DType::Float16) {
      for (NodeId id : order) keep(id);
    }
    for (NodeId id : order) switch_attributes(graph_.node(id));
    for (size_t i = 0; i < graph_.inputs.size(); ++i) input(i);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) output(i);
    sort_nodes(graph_);
    infer_types(graph_);
    PassOptions passes;
    passes.changes = "only:canonicalize-cast";
    run_passes(graph_, passes);
    return std::move(beyond_);
  }

 private:
  void switch_value(ValueId v) {
    Value& value = graph_.value(v);
    if (value.type.dtype != from_) return;
    value.type.dtype = to_;
    switched_.insert(v);
    if (!value.constant) return;
    originals_[v] = *value.constant;
    if (to_ == DType::Float16) {
      const std::optional<Tensor> limited = within_range(*value.constant, to_);
      if (limited) beyond_.push_back(value.name);
      value.constant = convert(limited.value_or(*value.constant), to_);
    } else {
      value.constant = convert(*value.constant, to_);
    }
  }

  ValueId cast(ValueId v, DType to, ValueId result) {
    Node node;
    node.op = "Cast";
    node.inputs = {v};
    node.outputs = {result};
    node.attributes["to"] = static_cast<int64_t>(to);
    graph_.add_node(std::move(node));
    return result;
  }

  ValueId twin(const std::string& name, DType dtype, const Type& type) {
    Type other = type;
    other.dtype = dtype;
    return graph_.add_value(graph_.unused_value_name(cat(name, "_", dtype_name(dtype))), std::move(other));
  }

  // The value in the dtype that it had.
  ValueId unswitched(ValueId v) {
    if (const auto found = twins_.find(v); found != twins_.end()) return found->second;
    if (const auto original = originals_.find(v); original != originals_.end())
      return twins_[v] =
                 graph_.add_constant(graph_.unused_value_name(graph_.value(v).name + "_float32"), original->second);
    return twins_[v] = cast(v, from_, twin(graph_.value(v).name, from_, graph_.value(v).type));
  }

  // A node that stays in float32 reads and makes float32.
  void keep(NodeId id) {
    for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i) {
      const ValueId v = graph_.node(id).inputs[i];
      if (v == kNoValue || switched_.count(v) == 0 || !stays(graph_.node(id), i)) continue;
      const ValueId kept = unswitched(v);
      graph_.node(id).inputs[i] = kept;
    }
    if (!stays(graph_.node(id))) return;
    for (size_t i = 0; i < graph_.node(id).outputs.size(); ++i) {
      const ValueId v = graph_.node(id).outputs[i];
      if (v == kNoValue || switched_.count(v) == 0) continue;
      const ValueId made = twin(graph_.value(v).name, from_, graph_.value(v).type);
      graph_.node(id).outputs[i] = made;
      twins_[v] = made;
      cast(made, to_, v);
    }
  }

  void switch_attributes(Node& node) {
    if (!node.domain.empty()) return;
    const auto number = static_cast<int64_t>(from_);
    for (const char* key : {"to", "dtype"}) {
      if ((node.op == "Cast" && key == std::string("to")) || node.op == "EyeLike") {
        if (node.has_attribute(key) && node.attribute_int(key, 0) == number && !made_here(node))
          node.attributes[key] = static_cast<int64_t>(to_);
      }
    }
    if (node.op != "ConstantOfShape") return;
    const auto value = node.attributes.find("value");
    if (value == node.attributes.end()) {  // it stands for a float32 0
      if (from_ == DType::Float32) node.attributes["value"] = convert(Tensor::of<float>({1}, {0}), to_);
    } else if (auto* tensor = std::get_if<Tensor>(&value->second); tensor != nullptr && tensor->dtype() == from_) {
      *tensor = convert(*tensor, to_);
    }
  }

  // Casts of this operation make values of the dtype that they say.
  bool made_here(const Node& node) const { return graph_.value(node.outputs[0]).type.dtype != to_; }

  void input(size_t i) {
    const ValueId v = graph_.inputs[i];
    if (graph_.value(v).type.dtype != to_ || io_ == to_) return;
    const std::string name = graph_.value(v).name;
    Value outside = graph_.value(v);
    outside.type.dtype = io_;
    rename_value(graph_, v, graph_.unused_value_name(cat(name, "_", dtype_name(to_))));
    graph_.value(v).doc.clear();
    const ValueId added = graph_.add_value(std::move(outside));
    graph_.inputs[i] = added;
    cast(added, to_, v);
  }

  void output(size_t i) {
    const ValueId v = graph_.outputs[i];
    if (graph_.value(v).type.dtype != to_ || io_ == to_) return;
    const std::string name = graph_.value(v).name;
    Value outside = graph_.value(v);
    outside.type.dtype = io_;
    outside.constant.reset();
    outside.aliases.clear();
    rename_value(graph_, v, graph_.unused_value_name(cat(name, "_", dtype_name(to_))));
    graph_.value(v).doc.clear();
    graph_.outputs[i] = cast(v, io_, graph_.add_value(std::move(outside)));
  }

  Graph& graph_;
  const DType from_, to_, io_;
  std::set<ValueId> switched_;
  std::map<ValueId, Tensor> originals_;  // constants as they were
  std::map<ValueId, ValueId> twins_;     // the switched value -> the same in the dtype that it had
  std::vector<std::string> beyond_;
};

}  // namespace

std::optional<Tensor> within_range(const Tensor& numbers, DType dtype) {
  constexpr float kLargestHalf = 65504, kLargestBrain = 0x1.FEp127F;
  const float most = dtype == DType::Float16 ? kLargestHalf : kLargestBrain;
  // Rounding may lead there, too.
  const auto beyond = [&](float x) { return std::isfinite(x) && std::abs(x) > most; };
  const std::span<const float> given = numbers.values<float>();
  if (std::none_of(given.begin(), given.end(), beyond)) return std::nullopt;
  Tensor limited = numbers;
  float* out = limited.mutable_data<float>();
  for (int64_t i = 0; i < limited.size(); ++i) out[i] = beyond(out[i]) ? std::copysign(most, out[i]) : out[i];
  return limited;
}

std::vector<std::string> limit_float16_weights(Graph& graph) {
  std::vector<std::string> beyond;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    Value& value = graph.value(v);
    if (!value.constant || value.constant->dtype() != DType::Float32 || value.constant->size() <= 1) continue;
    std::optional<Tensor> limited = within_range(*value.constant, DType::Float16);
    if (!limited) continue;
    beyond.push_back(value.name);
    value.constant = std::move(*limited);
  }
  return beyond;
}

std::vector<std::string> to_dtype(Graph& graph, DType dtype, DType io) { return Switch(graph, dtype, io).run(); }

}  // namespace dnn
