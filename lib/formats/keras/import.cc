// Steps of importing a layer; see import.h.
#include "formats/keras/import.h"

#include <functional>
#include <set>

#include "ops/op.h"

namespace dnn::keras {

bool is_value(const Json& argument) {
  return argument.is_object() && argument.size() == 1 && argument.find("value") != argument.end() &&
         argument["value"].is_number_integer();
}

ValueId value_of(const Json& argument) { return argument["value"].get<ValueId>(); }

Call::Call(Session& session, const Layer& layer, std::string name, Json args, Json kwargs)
    : Steps(session.draft, std::move(name)),
      session_(session),
      layer_(layer),
      args_(std::move(args)),
      kwargs_(std::move(kwargs)) {
  const std::function<void(const Json&)> collect = [&](const Json& v) {
    if (is_value(v)) {
      inputs_.push_back(value_of(v));
    } else if (v.is_structured()) {
      for (const Json& item : v) collect(item);
    }
  };
  collect(args_);
  collect(kwargs_);
}

void Call::cast_inputs(DType wanted) {
  for (ValueId& v : inputs_) {
    if (is_float(dtype(v)) && dtype(v) != wanted) v = emit("Cast", {v}, {{"to", static_cast<int64_t>(wanted)}});
  }
}

ValueId Call::x() const {
  if (inputs_.size() != 1) fail("it takes one input, ", inputs_.size(), " come");
  return inputs_[0];
}

std::vector<int64_t> Call::shape(ValueId v) const {
  const Type& type = draft().graph.value(v).type;
  if (!type.shape) refuse("the rank of its input is not known");
  std::vector<int64_t> result;
  for (const Dim& dim : *type.shape) result.push_back(dim.size);
  return result;
}

bool Call::has(const char* key) const {
  const auto found = layer_.config.find(key);
  return found != layer_.config.end() && !found->is_null();
}

const Json& Call::option(const char* key) const {
  static const Json none;
  const auto found = layer_.config.find(key);
  return found == layer_.config.end() ? none : *found;
}

std::string Call::text(const char* key, const std::string& fallback) const {
  if (!has(key)) return fallback;
  if (!option(key).is_string()) fail("'", key, "' is no text");
  return option(key).get<std::string>();
}

bool Call::flag(const char* key, bool fallback) const {
  if (!has(key)) return fallback;
  if (!option(key).is_boolean()) fail("'", key, "' is neither true nor false");
  return option(key).get<bool>();
}

double Call::number(const char* key, double fallback) const {
  if (!has(key)) return fallback;
  const Json& v = option(key);
  // A NumPy scalar of the past is {"type": "ndarray", "value": 0.3}.
  if (v.is_object() && v.find("value") != v.end() && v["value"].is_number()) return v["value"].get<double>();
  if (!v.is_number()) fail("'", key, "' is no number");
  return v.get<double>();
}

namespace {
// Extents, factors and axes are far below this.
constexpr int64_t kLargest = int64_t{1} << 40;

int64_t whole(const Call& call, const char* key, const Json& v) {
  if (!v.is_number_integer()) call.fail("'", key, "' is no whole number");
  const auto result = v.get<int64_t>();
  if (result > kLargest || result < -kLargest) call.fail("'", key, "' is ", result);
  return result;
}
}  // namespace

int64_t Call::integer(const char* key, int64_t fallback) const {
  return has(key) ? whole(*this, key, option(key)) : fallback;
}

int64_t Call::axis(const char* key, int64_t fallback, int64_t rank) const {
  int64_t value = fallback;
  if (has(key)) {
    const Json& v = option(key);
    if (v.is_array() && v.size() != 1) refuse(v.size(), " axes");
    value = whole(*this, key, v.is_array() ? v[0] : v);
  }
  if (value < 0) value += rank;
  if (value < 0 || value >= rank) fail("axis ", value, " of rank ", rank);
  return value;
}

std::vector<int64_t> Call::list_option(const char* key) const {
  const Json& v = option(key);
  if (v.is_number()) return {whole(*this, key, v)};
  if (!v.is_array()) fail("'", key, "' is no list");
  std::vector<int64_t> result;
  for (const Json& item : v) result.push_back(whole(*this, key, item));
  return result;
}

std::vector<int64_t> Call::integers(const char* key, size_t n, int64_t fallback) const {
  if (!has(key)) return std::vector<int64_t>(n, fallback);
  std::vector<int64_t> result = list_option(key);
  if (result.size() == 1) result.resize(n, result[0]);
  if (result.size() != n) fail("'", key, "' has ", result.size(), " entries, not ", n);
  return result;
}

bool Call::channels_first() const {
  const std::string format = text("data_format", text("dim_ordering", "channels_last"));
  return format == "channels_first" || format == "th";
}

const Tensor& Call::stored(size_t i, const char* role) const {
  if (i >= layer_.weights.size()) fail("its ", role, " is missing");
  return layer_.weights[i].value;
}

ValueId Call::add_weight(size_t i, const char* role, Tensor tensor) {
  const Weight& weight = layer_.weights[i];
  const std::string wanted = weight.name.empty() ? cat(name(), "/", role) : weight.name;
  return draft().add_constant(wanted, std::move(tensor), Draft::Name::Given);
}

ValueId Call::constant(const char* role, Tensor tensor) {
  const auto [at, fresh] = session_.constants.try_emplace({&layer_, role}, kNoValue);
  if (fresh) at->second = store(role, std::move(tensor));
  return at->second;
}

std::vector<ValueId> Call::emit_many(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                                     size_t outputs) {
  std::vector<ValueId> result = Steps::emit_many(op, std::move(inputs), std::move(attributes), outputs);
  infer(result);
  return result;
}

ValueId Call::emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes) {
  return emit_many(op, std::move(inputs), std::move(attributes), 1)[0];
}

// Types as far as they follow from the inputs' types and constants; infer_types() checks all of it at the end.
void Call::infer(const std::vector<ValueId>& outputs) {
  Graph& graph = draft().graph;
  const Node& node = graph.node(graph.order().back());
  const OpDef* op = find_op(node.domain, node.op);
  if (op == nullptr || op->infer == nullptr) fail_internal("no operator ", node.op);
  InferContext context{node, {}, {}, std::vector<Type>(node.outputs.size()), std::vector<Tensor>(node.outputs.size()),
                       {}};
  for (ValueId v : node.inputs) {
    context.inputs.push_back(v == kNoValue ? nullptr : &graph.value(v).type);
    context.known.push_back(graph.constant(v));
  }
  op->infer(context);
  for (size_t i = 0; i < outputs.size(); ++i) graph.value(outputs[i]).type = context.outputs[i];
}

ValueId Call::scalar(double value, ValueId like) {
  const DType wanted = dtype(like) == DType::Undefined ? DType::Float32 : dtype(like);
  return store("number", convert(Tensor::scalar(value), wanted));
}

ValueId Call::activated(ValueId v, const Json& activation) {
  if (activation.is_null()) return v;
  if (activation.is_string()) return apply_activation(*this, v, activation.get<std::string>());
  if (!activation.is_object()) fail("an activation that is neither a name nor a layer");
  const auto config = activation.find("config");
  const auto name = activation.find("class_name");
  if (config == activation.end() || name == activation.end() || !name->is_string())
    fail("an activation without a name");
  if (config->is_string()) return apply_activation(*this, v, config->get<std::string>());
  Layer layer;
  layer.class_name = name->get<std::string>();
  layer.name = layer_.name;
  layer.config = *config;
  // Those that have no weights of their own.
  static const std::set<std::string, std::less<>> kinds = {"Activation", "ELU",     "LeakyReLU",
                                                           "ReLU",       "Softmax", "ThresholdedReLU"};
  const LayerRow* row = kinds.count(layer.class_name) != 0 ? find_layer(layer.class_name) : nullptr;
  if (row == nullptr || !layer.config.is_object()) refuse("its activation ", layer.class_name, " is not read");
  Call call(session_, layer, Steps::name(), Json::array({Json{{"value", v}}}), Json::object());
  return row->import(call);
}

}  // namespace dnn::keras
