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

namespace {

Json arguments_of(Json args, Json kwargs) {
  for (size_t i = 0; i < args.size(); ++i) kwargs[std::to_string(i)] = std::move(args[i]);
  return kwargs;
}

// All tensors of an argument, in order.
void collect_values(const Json& v, std::vector<ValueId>* out) {
  if (is_value(v)) {
    out->push_back(value_of(v));
  } else if (v.is_structured()) {
    for (const Json& item : v) collect_values(item, out);
  }
}

}  // namespace

Call::Call(Session& session, const Layer& layer, std::string name, Json args, Json kwargs)
    : DraftBuilder(session.draft, std::move(name)),
      session_(session),
      layer_(layer),
      options_(layer.config.fresh()),
      given_(arguments_of(std::move(args), std::move(kwargs))),
      arguments_(given_, layer.label()) {
  options_.take("name");
  // From Keras 3 on, a model's own training=False, as in predict(), goes before what a call says.
  if (session.version >= 3) arguments_.take("training");
}

void Call::cast_inputs(DType wanted) {
  computes_ = wanted;
  const std::function<void(Json&)> cast = [&](Json& v) {
    if (is_value(v)) {
      const ValueId x = value_of(v);
      if (is_float(dtype(x)) && dtype(x) != wanted)
        v["value"] = emit("Cast", {x}, {{"to", static_cast<int64_t>(wanted)}});
    } else if (v.is_structured()) {
      for (Json& item : v) cast(item);
    }
  };
  cast(given_);
  arguments_ = Fields(given_, layer_.label());
  if (session_.version >= 3) arguments_.take("training");
}

const Json& Call::argument(size_t place, std::initializer_list<const char*> names) const {
  const Json* found = &arguments_.take(std::to_string(place).c_str());
  for (const char* name : names) {
    if (found->is_null()) found = &arguments_.take(name);
  }
  return *found;
}

std::vector<ValueId> Call::tensors(size_t place, std::initializer_list<const char*> names) const {
  std::vector<ValueId> result;
  const std::function<void(const Json&)> visit = [&](const Json& v) {
    if (is_value(v)) {
      result.push_back(value_of(v));
    } else if (v.is_structured()) {
      for (const Json& item : v) visit(item);
    } else {
      refuse("a constant among its inputs");
    }
  };
  const Json& given = argument(place, names);
  if (!given.is_null()) visit(given);
  return result;
}

DType Call::first_dtype() const {
  std::vector<ValueId> all;
  collect_values(given_, &all);
  if (all.empty()) refuse("it has no tensor among its arguments");
  return dtype(all[0]);
}

ValueId Call::x() const {
  const std::vector<ValueId> all = inputs();
  if (all.size() != 1) fail("it takes one input, ", all.size(), " come");
  return all[0];
}

void Call::finish() const {
  options_.finish(layer_.label(), layer_.class_name, FieldKind::Option, session_.ignored);
  arguments_.finish(layer_.label(), layer_.class_name, FieldKind::Argument, session_.ignored);
}

Tensor Call::computed(Tensor tensor) const {
  if (computes_ == DType::Undefined || !is_float(tensor.dtype()) || tensor.dtype() == computes_) return tensor;
  return convert(tensor, computes_);
}

std::vector<int64_t> Call::shape(ValueId v) const {
  const Type& type = draft().graph.value(v).type;
  if (!type.shape) refuse("the rank of its input is not known");
  std::vector<int64_t> result;
  for (const Dim& dim : *type.shape) result.push_back(dim.size);
  return result;
}

std::string Call::text(const char* key, const std::string& fallback) const {
  if (!has(key)) return fallback;
  if (!option(key).is_string()) fail("'", key, "' is no text");
  return option(key).get<std::string>();
}

bool Call::flag(const char* key, bool fallback) const {
  if (!has(key)) return fallback;
  const Json& v = option(key);
  if (v.is_number_integer() && (v == 0 || v == 1)) return v == 1;  // as some files have it
  if (!v.is_boolean()) fail("'", key, "' is neither true nor false");
  return v.get<bool>();
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

int64_t whole_option(const Call& call, const char* key, const Json& v) {
  if (!v.is_number_integer()) call.fail("'", key, "' is no whole number");
  const auto result = v.get<int64_t>();
  if (result > kLargestInteger || result < -kLargestInteger) call.fail("'", key, "' is ", result);
  return result;
}
}  // namespace

int64_t Call::integer(const char* key, int64_t fallback) const {
  return has(key) ? whole_option(*this, key, option(key)) : fallback;
}

int64_t Call::axis(const char* key, int64_t fallback, int64_t rank) const {
  int64_t value = fallback;
  if (has(key)) {
    const Json& v = option(key);
    if (v.is_array() && v.size() != 1) refuse(v.size(), " axes");
    value = whole_option(*this, key, v.is_array() ? v[0] : v);
  }
  if (value < 0) value += rank;
  if (value < 0 || value >= rank) fail("axis ", value, " of rank ", rank);
  return value;
}

std::vector<int64_t> Call::list_option(const char* key) const {
  const Json& v = option(key);
  if (v.is_number()) return {whole_option(*this, key, v)};
  if (!v.is_array()) fail("'", key, "' is no list");
  std::vector<int64_t> result;
  for (const Json& item : v) result.push_back(whole_option(*this, key, item));
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
  std::vector<ValueId> result = DraftBuilder::emit_many(op, std::move(inputs), std::move(attributes), outputs);
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
  const Fields entries(activation, layer_.label());
  const std::string name = entries.text("class_name");
  const Json& config = entries.take("config");
  if (name.empty() || config.is_null()) fail("an activation without a name");
  entries.take("module");  // refuse_programs() has looked at both
  entries.take("registered_name");
  entries.finish(layer_.label(), name, FieldKind::Entry, session_.ignored);
  if (config.is_string()) return apply_activation(*this, v, config.get<std::string>());
  Layer layer;
  layer.class_name = name;
  layer.name = layer_.name;
  // Those that have no weights of their own.
  static const std::set<std::string, std::less<>> kinds = {"Activation", "ELU",     "LeakyReLU",
                                                           "ReLU",       "Softmax", "ThresholdedReLU"};
  const LayerRow* row = kinds.count(layer.class_name) != 0 ? find_layer(layer.class_name) : nullptr;
  if (row == nullptr || !config.is_object()) refuse("its activation ", layer.class_name, " is not read");
  layer.config = Fields(config, layer.label());
  Call call(session_, layer, DraftBuilder::name(), Json::array({Json{{"value", v}}}), Json::object());
  call.cast_inputs(compute_dtype(call));
  return import_all(call, row->import);
}

// A policy's name, or the policy {"class_name": "DTypePolicy", "config": {"name"}}.
DType compute_dtype(const Call& call) {
  if (!call.has("dtype")) return DType::Float32;
  Json name = call.option("dtype");
  if (name.is_object()) {
    const Fields policy(name, "dtype");
    const std::string kind = policy.text("class_name");
    const Json& config = policy.take("config");
    if ((kind != "DTypePolicy" && kind != "FloatDTypePolicy" && kind != "Policy") || !config.is_object())
      call.refuse("its dtype policy ", kind, " is not read");
    policy.take("module");
    policy.take("registered_name");
    policy.finish(call.layer().label(), kind, FieldKind::Entry, {});
    const Fields options(config, "dtype");
    name = options.take("name");
    options.finish(call.layer().label(), kind, FieldKind::Option, {});
  }
  if (!name.is_string()) call.refuse("its dtype policy is not read");
  auto text = name.get<std::string>();
  if (starts_with(text, "mixed_")) text = text.substr(6);  // weights are kept in float32
  const DType dtype = dtype_from_name(text);
  if (dtype == DType::Undefined) call.refuse("computes as '", text, "', which is not read");
  return is_float(dtype) ? dtype : DType::Float32;
}

}  // namespace dnn::keras
