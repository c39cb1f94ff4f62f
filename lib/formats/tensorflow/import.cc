// Steps of importing an operator; see import.h.
#include "formats/tensorflow/import.h"

#include <algorithm>

#include "formats/tensorflow/tensor_proto.h"
#include "ops/movement.h"
#include "ops/op.h"

namespace dnn::tensorflow {
namespace {

// Constants up to this many elements are always computed; larger ones where they are no larger than what they are made from.
constexpr int64_t kAlwaysFold = 1 << 16;

// Operators whose result is the same elements in another form, so that it goes by the name of what it is made from.
bool reforms(const std::string& op) {
  return op == "Transpose" || op == "Reshape" || op == "Squeeze" || op == "Unsqueeze" || op == "Identity" ||
         op == "Cast";
}

}  // namespace

Op::Op(Source& source, const NodeDef& node, const OpRow& row, std::vector<Item> inputs)
    : DraftBuilder(source.draft, node.name()),
      source_(source),
      node_(node),
      fields_(node.op(), node.attr()),
      row_(row),
      inputs_(std::move(inputs)) {}

ValueId Op::in(size_t i) const {
  if (i >= inputs_.size()) fail("there is no input ", i);
  if (inputs_[i].value == kNoValue) fail("input ", i, " is a variable's handle, not a value");
  return inputs_[i].value;
}

std::vector<int64_t> Op::ints(size_t i) const {
  const Tensor* tensor = constant(i);
  if (tensor == nullptr) refuse("input ", i, " is computed; only a constant one is read");
  if (!is_integer(tensor->dtype()) || tensor->rank() > 1)
    fail("input ", i, " is ", Type(*tensor).text(), ", not a list of integers");
  return to_int64s(*tensor);
}

int64_t Op::one(size_t i) const {
  const std::vector<int64_t> values = ints(i);
  if (values.size() != 1) fail("input ", i, " has ", values.size(), " entries, not one");
  return values[0];
}

std::optional<std::vector<Dim>> Op::dims(size_t i) const {
  const ValueId v = in(i);
  if (const Tensor* tensor = draft().graph.constant(v)) {
    if (!is_integer(tensor->dtype()) || tensor->rank() > 1) return std::nullopt;
    std::vector<Dim> result;
    for (int64_t x : to_int64s(*tensor)) result.emplace_back(x);
    return result;
  }
  const auto found = source_.extents.find(v);
  if (found == source_.extents.end()) return std::nullopt;
  return found->second;
}

ValueId Op::extents(size_t i) {
  const auto known = dims(i);
  const bool all = known && std::all_of(known->begin(), known->end(), [](const Dim& dim) { return dim.fixed(); });
  return all ? new_extents(i) : to_dtype(in(i), DType::Int64);
}

ValueId Op::new_extents(size_t i) {
  if (const auto known = dims(i)) {
    std::vector<int64_t> values;
    for (const Dim& dim : *known) values.push_back(dim.size);
    if (constant(i) != nullptr || std::count(values.begin(), values.end(), -1) <= 1) return list(values);
  }
  return to_dtype(in(i), DType::Int64);
}

std::vector<int64_t> Op::shape(ValueId v) const {
  if (!ranked(v)) refuse("the rank of its input '", draft().graph.value(v).name, "' is not known");
  std::vector<int64_t> result;
  for (const Dim& dim : *type(v).shape) result.push_back(dim.size);
  return result;
}

int64_t Op::integer(const std::string& key, int64_t fallback) const {
  const AttrValue* value = fields_.take(key, AttrValue::kI);
  return value == nullptr ? fallback : value->i();
}

float Op::number_of(const std::string& key, float fallback) const {
  const AttrValue* value = fields_.take(key, AttrValue::kF);
  return value == nullptr ? fallback : value->f();
}

bool Op::flag(const std::string& key, bool fallback) const {
  const AttrValue* value = fields_.take(key, AttrValue::kB);
  return value == nullptr ? fallback : value->b();
}

std::string Op::text(const std::string& key, const std::string& fallback) const {
  const AttrValue* value = fields_.take(key, AttrValue::kS);
  return value == nullptr ? fallback : value->s();
}

std::vector<int64_t> Op::integers(const std::string& key) const {
  const AttrValue* value = fields_.take(key, AttrValue::kList);
  if (value == nullptr) return {};
  return {value->list().i().begin(), value->list().i().end()};
}

std::optional<DType> Op::dtype_attribute(const std::string& key) const {
  const AttrValue* value = fields_.take(key, AttrValue::kType);
  if (value == nullptr) return std::nullopt;
  return dtype_of(value->type());
}

std::vector<ValueId> Op::emit_many(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                                   size_t outputs) {
  Graph& graph = draft().graph;
  const dnn::OpDef* def = find_op("", op);
  DNN_CHECK(def != nullptr && def->infer != nullptr);
  Node node;
  node.op = op;
  node.inputs = inputs;
  node.attributes = attributes;
  node.outputs.assign(outputs, 0);  // only their number counts here
  InferContext context{node, {}, {}, std::vector<Type>(outputs), std::vector<Tensor>(outputs), {}};
  ReferenceContext reference{node, {}, std::vector<Tensor>(outputs), {}};
  bool constant = def->reference != nullptr && def->deterministic && def->flops == nullptr && !inputs.empty();
  int64_t elements = 0;
  for (ValueId v : inputs) {
    const Tensor* known = v == kNoValue ? nullptr : graph.constant(v);
    context.inputs.push_back(v == kNoValue ? nullptr : &graph.value(v).type);
    context.known.push_back(known);
    reference.inputs.push_back(known);
    constant = constant && (v == kNoValue || known != nullptr);
    elements += known == nullptr ? 0 : known->size();
  }
  try {
    def->infer(context);
  } catch (Error& error) {
    throw error.within(op);
  }
  int64_t made = 0;
  for (const Type& type : context.outputs) {
    constant = constant && type.fixed();
    if (constant) made += element_count(type.fixed_shape());
  }
  constant = constant && made <= std::max(kAlwaysFold, elements) && made <= source_.room;
  std::vector<ValueId> result;
  if (constant) {
    source_.room -= made;
    if (op == "Transpose") {
      reference.outputs[0] = transposed(*reference.inputs[0],
                                        transpose_permutation(node, static_cast<size_t>(reference.inputs[0]->rank())));
    } else {
      def->reference(reference);
    }
    for (Tensor& tensor : reference.outputs) result.push_back(store(op, std::move(tensor)));
    source_.made[result[0]] = {op, inputs};
    if (reforms(op) && (draft().unnamed.count(inputs[0]) == 0 || source_.derived.count(inputs[0]) != 0))
      source_.derived[result[0]] = inputs[0];
    return result;
  }
  if (outputs == 1 && context.known_outputs[0].defined()) return {store(op, std::move(context.known_outputs[0]))};
  result = DraftBuilder::emit_many(op, std::move(inputs), std::move(attributes), outputs);
  for (size_t i = 0; i < outputs; ++i) graph.value(result[i]).type = context.outputs[i];
  return result;
}

ValueId Op::emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes) {
  return emit_many(op, std::move(inputs), std::move(attributes), 1)[0];
}

ValueId Op::transpose(ValueId v, const Permutation& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return emit("Transpose", {v}, {{"perm", perm}});
  }
  return v;
}

ValueId Op::to_dtype(ValueId v, DType to) {
  if (dtype(v) == to) return v;
  return emit("Cast", {v}, {{"to", static_cast<int64_t>(to)}});
}

ValueId Op::scalar(double value, DType dtype) { return store("number", convert(Tensor::scalar(value), dtype)); }

void Op::mark_bias(ValueId v, ValueId bias) {
  if (draft().graph.constant(v) != nullptr || draft().graph.order().empty()) return;
  const NodeId last = draft().graph.order().back();
  if (draft().graph.node(last).output(0) == v) source_.biases[last] = bias;
}

const Node* Op::maker(ValueId v) const {
  const Graph& graph = draft().graph;
  const std::vector<NodeId>& order = graph.order();
  for (size_t back = 1; back <= 32 && back <= order.size(); ++back) {
    const Node& node = graph.node(order[order.size() - back]);
    if (std::find(node.outputs.begin(), node.outputs.end(), v) != node.outputs.end()) return &node;
  }
  return nullptr;
}

void Op::define(size_t i, ValueId v) {
  Draft& draft = this->draft();
  if (draft.unnamed.count(v) != 0 && draft.graph.constant(v) == nullptr)
    draft.rename(v, i == 0 ? name() : cat(name(), ":", i), name());
  if (outputs_.size() <= i) outputs_.resize(i + 1);
  outputs_[i] = Item::of(v);
}

}  // namespace dnn::tensorflow
