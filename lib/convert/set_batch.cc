// The batch extent of a whole graph; see surgery.h.
//
// Where a graph is fixed to a batch of B, a copy of it is inferred with a prime in place of B that no extent of a network is a
// multiple of: the axes that are show where the batch goes, and what is written out for B alone contradicts it.
#include <algorithm>

#include "base/error.h"
#include "convert/surgery.h"
#include "graph/bind.h"
#include "graph/locate.h"
#include "ops/op.h"

namespace dnn {
namespace {

constexpr int64_t kPrime = 1000003;

using Extents = std::vector<int64_t>;  // -1: open

Extents extents_of(const Type& type) {
  Extents extents;
  for (const Dim& dim : *type.shape) extents.push_back(dim.size);
  return extents;
}

int64_t product(const Extents& extents, size_t from, size_t to) {
  int64_t n = 1;
  for (size_t i = from; i < to; ++i) n *= extents[i];
  return n;
}

// The axis that the batch is in, or -1.
int batch_axis(const Type& type) {
  if (!type.shape) return -1;
  for (size_t i = 0; i < type.shape->size(); ++i) {
    const int64_t size = (*type.shape)[i].size;
    if (size > 0 && size % kPrime == 0) return static_cast<int>(i);
  }
  return -1;
}

// Types that producers give are forgotten, but for what nodes of unknown operators make.
void forget_shapes(Graph& graph) {
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (const OpDef* op = find_op(node.domain, node.op); op == nullptr || op->infer == nullptr) continue;
    for (ValueId v : node.outputs) {
      if (v != kNoValue) graph.value(v).type.shape.reset();
    }
  }
}

void set_inputs(Graph& graph, const Dim& extent) {
  for (ValueId v : graph.inputs) {
    std::optional<std::vector<Dim>>& shape = graph.value(v).type.shape;
    if (shape && !shape->empty()) (*shape)[0] = extent;
  }
}

class Batch {
 public:
  // `fixed` is the graph as it is, inferred; `open` whether the batch becomes open.
  Batch(const Graph& fixed, int64_t old, bool open) : fixed_(fixed), old_(old), open_(open), graph_(fixed) {}

  // The rewritten graph, every batch extent the prime.
  Graph run() {
    while (!round()) continue;
    check();
    return std::move(graph_);
  }

 private:
  struct Again {};  // the order of nodes changed

  bool round() {
    forget_shapes(graph_);
    set_inputs(graph_, Dim(kPrime));
    try {
      infer_types(graph_, [this](NodeId id) { visit(id); });
    } catch (const Again&) {
      return false;
    } catch (Error& e) {
      if (e.kind() != ErrorKind::Malformed) throw;
      fail_unsupported("batch: ", e.what(), ": written for a batch of ", old_, " alone");
    }
    return true;
  }

  void visit(NodeId id) {
    Node& node = graph_.node(id);
    if (!node.domain.empty()) return;
    if (node.op == "Reshape") reshape(node);
    if (node.op == "Expand") expand(node);
    if (node.op == "Resize") resize(node);
    if (node.op == "Concat") concat(id);
  }

  // Types in the graph as it is, of values that it has.
  const Type* before(ValueId v) const {
    return v == kNoValue || v >= fixed_.value_count() || !fixed_.value(v).type.fixed() ? nullptr
                                                                                       : &fixed_.value(v).type;
  }

  void give(Node& node, size_t i, const std::vector<int64_t>& numbers) {
    const ValueId old = node.inputs[i];
    node.inputs[i] = graph_.add_constant(graph_.unused_value_name(graph_.value(old).name + "_batch"),
                                         Tensor::of<int64_t>({static_cast<int64_t>(numbers.size())}, numbers));
  }

  void reshape(Node& node) {
    const Tensor* target = graph_.constant(node.input(1));
    const Type& now = graph_.value(node.inputs[0]).type;
    const Type *in = before(node.inputs[0]), *out = before(node.outputs[0]);
    const int from = batch_axis(now);
    if (target == nullptr || from < 0 || in == nullptr || out == nullptr) return;
    const Extents i = extents_of(*in), o = extents_of(*out);
    const size_t to = place(node, i, o, from);
    std::vector<int64_t> numbers = to_int64s(*target);
    if (numbers.size() != o.size()) return;
    if (numbers[to] == -1) return;
    if (numbers[to] == 0 && node.attribute_int("allowzero", 0) == 0) return;
    for (size_t axis = 0; axis < o.size(); ++axis) numbers[axis] = axis == to ? -1 : o[axis];
    give(node, 1, numbers);
  }

  // The axis of the output that the batch, in axis `from` of the input, is to be in.
  size_t place(const Node& node, const Extents& in, const Extents& out, size_t from) const {
    const int64_t prefix = product(in, 0, from), suffix = product(in, from + 1, in.size());
    std::vector<size_t> kept, by_prefix, by_suffix;
    for (size_t axis = 0; axis < out.size(); ++axis) {
      if (out[axis] % old_ != 0) continue;
      const bool before_it = product(out, 0, axis) == prefix;
      const bool after_it = product(out, axis + 1, out.size()) == suffix;
      if (before_it && after_it) kept.push_back(axis);
      if (before_it) by_prefix.push_back(axis);
      if (after_it) by_suffix.push_back(axis);
    }
    if (!kept.empty()) return kept[0];
    if (!by_prefix.empty() && (prefix == 1 || by_suffix.empty())) return by_prefix[0];
    if (by_prefix.empty() && !by_suffix.empty()) return by_suffix[0];
    fail_unsupported("batch: ", label_in(graph_, node), ": it is not clear which extent of ", shape_text(out),
                     " holds the batch");
  }

  void expand(Node& node) {
    const Tensor* target = graph_.constant(node.input(1));
    if (target == nullptr || old_ == 1 || batch_axis(graph_.value(node.inputs[0]).type) != 0) return;
    const Type* out = before(node.outputs[0]);
    std::vector<int64_t> numbers = to_int64s(*target);
    if (out == nullptr || numbers.size() != out->shape->size() || numbers[0] != old_) return;
    numbers[0] = 1;
    give(node, 1, numbers);
  }

  // Only the other axes are named; with a fixed batch all of them stay, so that older opsets can say it.
  void resize(Node& node) {
    const Tensor* sizes = graph_.constant(node.input(3));
    if (sizes == nullptr || sizes->size() == 0 || node.has_attribute("axes")) return;
    if (batch_axis(graph_.value(node.inputs[0]).type) != 0) return;
    std::vector<int64_t> numbers = to_int64s(*sizes);
    if (numbers[0] != old_) return;
    if (open_) {
      std::vector<int64_t> axes;
      for (size_t i = 1; i < numbers.size(); ++i) axes.push_back(static_cast<int64_t>(i));
      numbers.erase(numbers.begin());
      node.attributes["axes"] = axes;
    } else {
      numbers[0] = kPrime;
    }
    give(node, 3, numbers);
  }

  // What does not depend on the inputs, beside values that carry the batch (a class token), is expanded to it.
  void concat(NodeId id) {
    Node& node = graph_.node(id);
    ValueId carrier = kNoValue;
    for (ValueId v : node.inputs) {
      if (carrier == kNoValue && batch_axis(graph_.value(v).type) == 0) carrier = v;
    }
    if (carrier == kNoValue) return;
    const size_t rank = graph_.value(carrier).type.shape->size();
    const int64_t axis = node.attribute_int("axis", 0);
    if (axis == 0 || axis == -static_cast<int64_t>(rank)) return;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Type& type = graph_.value(node.inputs[i]).type;
      if (!type.fixed() || type.shape->size() != rank || (*type.shape)[0].size != old_ || batch_axis(type) >= 0)
        continue;
      if (old_ != 1) fail_unsupported("batch: ", label_in(graph_, node), ": a constant for a batch of ", old_);
      expand_to(id, i, carrier);
      throw Again{};
    }
  }

  void expand_to(NodeId id, size_t i, ValueId carrier) {
    const ValueId same = graph_.node(id).inputs[i];
    const std::string name = graph_.value(same).name;
    const auto fresh = [&](const char* what) { return graph_.add_value(graph_.unused_value_name(name + what)); };
    Extents rest = extents_of(graph_.value(same).type);
    rest.erase(rest.begin());
    const ValueId tail = graph_.add_constant(graph_.unused_value_name(name + "_extents"),
                                             Tensor::of<int64_t>({static_cast<int64_t>(rest.size())}, rest));
    const auto make = [&](const char* op, std::vector<ValueId> inputs, const char* what) {
      Node node;
      node.op = op;
      node.inputs = std::move(inputs);
      node.outputs = {fresh(what)};
      return node;
    };
    Node shape = make("Shape", {carrier}, "_batch");
    shape.attributes["start"] = int64_t{0};
    shape.attributes["end"] = int64_t{1};
    Node whole = make("Concat", {shape.outputs[0], tail}, "_shape");
    whole.attributes["axis"] = int64_t{0};
    const Node expand = make("Expand", {same, whole.outputs[0]}, "_batched");
    for (const Node& added : {shape, whole, expand}) graph_.insert_node_before(id, added);
    graph_.node(id).inputs[i] = expand.outputs[0];
  }

  // The batch has not got lost on the way, nor an axis.
  void check() const {
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      for (ValueId v : node.outputs) {
        const Type* old = before(v);
        if (old == nullptr || !graph_.value(v).type.shape) continue;
        if (old->shape->size() != graph_.value(v).type.shape->size())
          fail_unsupported("batch: ", label_in(graph_, node), ": ", graph_.value(v).type.text(), " in place of ",
                           old->text());
      }
    }
    for (ValueId v : graph_.outputs) {
      if (graph_.value(v).type.shape && batch_axis(graph_.value(v).type) < 0) lost(v);
    }
  }

  [[noreturn]] void lost(ValueId output) const {
    const std::vector<NodeId> producer = Uses(graph_).producer;
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (node.op == "Shape" || node.outputs.empty()) continue;
      const auto carries = [&](ValueId v) { return v != kNoValue && batch_axis(graph_.value(v).type) >= 0; };
      if (std::any_of(node.inputs.begin(), node.inputs.end(), carries) &&
          std::none_of(node.outputs.begin(), node.outputs.end(), carries))
        fail_unsupported("batch: ", label_in(graph_, node), ": its output ", graph_.value(node.outputs[0]).type.text(),
                         " has no batch any more");
    }
    fail_unsupported("batch: output ", quoted(graph_.value(output).name), " does not depend on it");
  }

  const Graph& fixed_;
  const int64_t old_;
  const bool open_;
  Graph graph_;
};

// The one extent that all inputs share; an open one has size -1.
Dim common_extent(const Graph& graph) {
  std::optional<Dim> common;
  for (ValueId v : graph.inputs) {
    const Type& type = graph.value(v).type;
    if (!type.shape || type.shape->empty())
      fail_usage("batch: input ", quoted(graph.value(v).name), " is ", type.text(), "; fix it with --shape");
    const Dim& dim = (*type.shape)[0];
    if (common && !(*common == dim))
      fail_usage("batch: the inputs do not share one, ", quoted(graph.value(v).name), " is ", type.text(),
                 "; fix them with --shape");
    common = dim;
  }
  if (!common) fail_usage("batch: the model has no inputs");
  return *common;
}

void infer_with(Graph& graph, const std::string& what) {
  try {
    infer_types(graph);
  } catch (Error& e) {
    if (e.kind() != ErrorKind::Malformed) throw;
    fail_unsupported("batch ", what, ": ", e.what());
  }
}

// Constants in which the prime stands get the number; extents that were the prime and are open now, the symbol.
void replace_prime(Graph& graph, const Graph& traced, const Dim& extent) {
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    Value& value = graph.value(v);
    if (value.constant && value.constant->dtype() == DType::Int64 && value.constant->size() <= 64) {
      std::vector<int64_t> numbers = to_int64s(*value.constant);
      if (std::find(numbers.begin(), numbers.end(), kPrime) == numbers.end() || !extent.fixed()) continue;
      std::replace(numbers.begin(), numbers.end(), kPrime, extent.size);
      value.constant = Tensor::of<int64_t>(value.constant->shape(), numbers);
    }
    const Type& trace = traced.value(v).type;
    if (extent.fixed() || value.constant || !trace.shape || !value.type.shape) continue;
    for (size_t i = 0; i < trace.shape->size() && i < value.type.shape->size(); ++i) {
      Dim& dim = (*value.type.shape)[i];
      if ((*trace.shape)[i].size == kPrime && !dim.fixed()) dim = extent;
    }
  }
}

}  // namespace

void set_batch(Graph& graph, std::string_view batch) {
  int64_t number = -1;
  const bool open = !parse_int(batch, &number);
  if (!open && number < 1) fail_usage("batch ", batch, " is less than 1");
  const Dim wanted = open ? Dim(std::string(batch)) : Dim(number);
  const Dim now = common_extent(graph);
  if (now == wanted) return;
  if (!now.fixed()) {  // what a model leaves open, it is not written for one number of
    if (!now.symbol.empty() && !open) bind_symbol(graph, now.symbol, number);
    set_inputs(graph, wanted);
    if (open) forget_shapes(graph);
    infer_with(graph, std::string(batch));
    return;
  }
  if (now.size == 0) fail_usage("batch: it is 0");
  Graph work = Batch(graph, now.size, open).run();
  const Graph traced = work;
  forget_shapes(work);
  set_inputs(work, wanted);
  Graph typed = work;
  replace_prime(typed, traced, wanted);  // the constants, before they are looked at
  infer_with(typed, std::string(batch));
  replace_prime(typed, traced, wanted);
  graph = std::move(typed);
}

std::string open_batch(const Graph& graph) {
  for (ValueId v : graph.inputs) {
    const Type& type = graph.value(v).type;
    if (!type.shape || type.shape->empty() || (*type.shape)[0].fixed()) continue;
    return (*type.shape)[0].symbol.empty() ? "batch" : (*type.shape)[0].symbol;
  }
  return "";
}

}  // namespace dnn
