// Undoing float16 and bfloat16; see small_floats.h.
#include "localize/small_floats.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "convert/surgery.h"
#include "localize/edits.h"
#include "localize/quantised_layers.h"
#include "ops/op.h"

namespace dnn {
namespace {

constexpr double kHalf = 0.502;  // of a unit in the last place: a batch norm may have been folded in another order
constexpr double kLargestHalf = 65504;
constexpr size_t kMostTurned = 5;

bool is_small(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

// Layers with weights by the small type of these, and all.
struct LayerTypes {
  std::map<DType, int64_t> small;
  int64_t n = 0;
};
LayerTypes layer_types(const Graph& graph) {
  LayerTypes types;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    if (!has_weight_input(graph.node(id))) continue;
    const ValueId v = graph.node(id).input(1);
    const ValueId behind = v == kNoValue ? kNoValue : constant_behind(graph, uses, v);
    const Tensor* weights = behind == kNoValue ? nullptr : graph.constant(behind);
    if (weights == nullptr) continue;
    ++types.n;
    if (is_small(weights->dtype())) ++types.small[weights->dtype()];
  }
  return types;
}

// Tells whether a number is another one, rounded to nearest.
bool rounds_to(double from, double to, DType dtype) {
  if (from == to) return true;
  if (!std::isfinite(from) || !std::isfinite(to)) return false;
  const int least = dtype == DType::Float16 ? -14 : -126, digits = dtype == DType::Float16 ? 10 : 7;
  const int exponent = from == 0 ? least : std::max(std::ilogb(from), least);
  return std::abs(from - to) <= kHalf * std::ldexp(1.0, exponent - digits);
}

Shape wide_extents(const Shape& shape) {
  Shape wide;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(wide), [](int64_t n) { return n != 1; });
  return wide;
}

// The extents, and those of a matrix with one of its axes taken apart: a dense layer behind images has its inputs in another order
// where these have their channels last.
std::vector<Shape> views_of(const Shape& extents) {
  std::vector<Shape> views = {extents};
  if (extents.size() != 2) return views;
  for (size_t axis : {0, 1}) {
    for (int64_t part = 2; part <= extents[axis] / 2; ++part) {
      if (extents[axis] % part != 0) continue;
      Shape apart = extents;
      apart[axis] = extents[axis] / part;
      apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis), part);
      views.push_back(std::move(apart));
    }
  }
  return views;
}

class Widening {
 public:
  Widening(const Graph& source, const Graph& target, SmallFloats* form) : graph_(target), form_(form) {
    take_from(source);
    for (const auto& fold : {fold_into_batch_norms, fold_all}) {
      Graph folded = source;
      fold(folded);
      take_from(folded);
    }
  }

  Graph run() {
    for (ValueId v = 0; v < graph_.value_count(); ++v) widen(&graph_.value(v));
    for (NodeId id : graph_.order()) widen_attributes(graph_.node(id));
    leave_casts_out();
    for (NodeId id : graph_.order()) {
      for (ValueId v : graph_.node(id).outputs) {
        if (v != kNoValue) graph_.value(v).type = {};
      }
    }
    remove_dead_nodes(graph_);
    infer_types(graph_);
    return std::move(graph_);
  }

 private:
  static void fold_into_batch_norms(Graph& graph) { fold_batch_norms(graph); }
  static void fold_all(Graph& graph) { fold_into_layers(graph); }

  void take_from(const Graph& graph) {
    for (ValueId v = 0; v < graph.value_count(); ++v) {
      const Tensor* constant = graph.constant(v);
      if (constant != nullptr && constant->dtype() == DType::Float32) ours_[constant->size()].push_back(*constant);
    }
  }

  // The source's constant that a tensor is the rounding of, in its order of axes and shape.
  std::optional<Tensor> unrounded(const Tensor& tensor) const {
    const auto found = ours_.find(tensor.size());
    if (found == ours_.end()) return std::nullopt;
    const std::vector<double> numbers = to_doubles(tensor);
    const Shape wide = wide_extents(tensor.shape());
    for (const Tensor& other : found->second) {
      const Shape ours = wide_extents(other.shape());
      if (ours.size() != wide.size() || ours.size() > kMostTurned) continue;
      for (const Shape& view : views_of(ours)) {
        if (auto made = in_some_order(other.reshaped(view), wide, numbers, tensor.dtype()))
          return made->reshaped(tensor.shape());
      }
    }
    return std::nullopt;
  }
  static std::optional<Tensor> in_some_order(const Tensor& ours, const Shape& wide, const std::vector<double>& numbers,
                                             DType dtype) {
    std::vector<size_t> perm(ours.shape().size());
    std::iota(perm.begin(), perm.end(), size_t{0});
    do {
      bool fits = true;
      for (size_t i = 0; perm.size() == wide.size() && i < perm.size(); ++i)
        fits = fits && ours.shape()[perm[i]] == wide[i];
      if (fits && rounds(ours, perm, numbers, dtype)) return ours.transposed({perm.begin(), perm.end()});
    } while (std::next_permutation(perm.begin(), perm.end()));
    return std::nullopt;
  }
  static bool rounds(const Tensor& ours, const std::vector<size_t>& perm, const std::vector<double>& numbers,
                     DType dtype) {
    const std::vector<int64_t> strides = row_major_strides(ours.shape());
    const float* from = ours.data<float>();
    std::vector<int64_t> at(perm.size(), 0);
    for (const double number : numbers) {
      int64_t place = 0;
      for (size_t i = 0; i < perm.size(); ++i) place += at[i] * strides[perm[i]];
      if (!rounds_to(static_cast<double>(from[place]), number, dtype)) return false;
      for (size_t i = perm.size(); i-- > 0 && ++at[i] == ours.dim(static_cast<int>(perm[i]));) at[i] = 0;
    }
    return true;
  }

  void widen(Value* value) {
    if (is_small(value->type.dtype)) value->type.dtype = DType::Float32;
    if (!value->constant || !is_small(value->constant->dtype())) return;
    ++form_->n_constants;
    const std::optional<Tensor> ours = unrounded(*value->constant);
    form_->n_rounded += ours ? 1 : 0;
    value->constant = ours ? *ours : convert(*value->constant, DType::Float32);
    value->type = Type(*value->constant);
  }

  static void widen_attributes(Node& node) {
    static const std::set<std::string_view> kTypes = {"to", "dtype", "output_dtype"};
    for (auto& [key, attribute] : node.attributes) {
      if (auto* number = std::get_if<int64_t>(&attribute)) {
        if (kTypes.count(key) != 0 && is_small(static_cast<DType>(*number)))
          *number = static_cast<int64_t>(DType::Float32);
      } else if (auto* tensor = std::get_if<Tensor>(&attribute)) {
        if (is_small(tensor->dtype())) *tensor = convert(*tensor, DType::Float32);
      }
    }
  }

  // Casts of float32 to float32; what makes an output of the network stays its own node.
  void leave_casts_out() {
    std::map<ValueId, ValueId> instead;
    for (NodeId id : std::vector<NodeId>(graph_.order())) {
      Node& node = graph_.node(id);
      for (ValueId& v : node.inputs) {
        if (const auto found = instead.find(v); found != instead.end()) v = found->second;
      }
      if (node.op != "Cast" || !node.domain.empty() ||
          node.attribute_int("to", 0) != static_cast<int64_t>(DType::Float32))
        continue;
      if (graph_.value(node.input(0)).type.dtype != DType::Float32) continue;
      if (graph_.is_output(node.output(0))) {
        node.op = "Identity";
        node.attributes.clear();
        continue;
      }
      instead[node.output(0)] = node.input(0);
      graph_.remove_node(id);
    }
  }

  Graph graph_;
  SmallFloats* form_;
  std::map<int64_t, std::vector<Tensor>> ours_;  // by number of elements
};

bool has_subgraphs(const Graph& graph) {
  for (NodeId id : graph.order()) {
    for (const auto& [key, attribute] : graph.node(id).attributes) {
      if (std::holds_alternative<std::shared_ptr<const Graph>>(attribute)) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<SmallFloats> small_floats(const Graph& source, const Graph& target) {
  const LayerTypes ours = layer_types(source), theirs = layer_types(target);
  if (!ours.small.empty() || theirs.small.empty() || has_subgraphs(target)) return std::nullopt;
  SmallFloats form;
  int64_t n_small = 0, most = 0;
  for (const auto& [dtype, n] : theirs.small) {
    n_small += n;
    if (n <= most) continue;
    most = n;
    form.dtype = dtype;
  }
  if (n_small * 4 <= theirs.n) return std::nullopt;
  for (NodeId id : target.order()) {
    const ValueId made = target.node(id).output(0);
    form.activations = form.activations || (has_weight_input(target.node(id)) && made != kNoValue &&
                                            is_small(target.value(made).type.dtype));
  }
  return form;
}

bool beyond_float16(const SourceRanges& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [](const auto& range) {
    return !(std::max(-range.second.low, range.second.high) <= kLargestHalf);
  });
}

Graph widened(const Graph& source, const Graph& target, SmallFloats* form) {
  return Widening(source, target, form).run();
}

std::string small_floats_text(const SmallFloats& form) {
  return cat("the target is the source in ", dtype_name(form.dtype), form.activations ? "" : " weights", ": ",
             form.n_rounded, " of ", form.n_constants,
             " constants of that type are the source's, rounded; the layers are compared without that rounding\n");
}

std::string small_floats_json(const SmallFloats& form) {
  return json_text(nlohmann::ordered_json{{"dtype", std::string(dtype_name(form.dtype))},
                                          {"activations", form.activations},
                                          {"constants", form.n_constants},
                                          {"rounded", form.n_rounded}});
}

}  // namespace dnn
