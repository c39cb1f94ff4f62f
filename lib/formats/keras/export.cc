// Layers and their names while a model is written; see export.h.
#include "formats/keras/export.h"

#include <algorithm>
#include <cmath>

namespace dnn::keras {

Plan::Plan(const Graph& graph, Dialect dialect) : graph_(graph), dialect_(dialect), uses_(graph) {}

LayerId Plan::maker(ValueId v) const {
  const auto found = makers_.find(v);
  return found == makers_.end() ? -1 : found->second;
}

// An output or input keeps its name beside the layer's.
void Plan::define(ValueId v, LayerId layer) {
  makers_[v] = layer;
  layers_[layer].value_name = graph_.value(v).name;
}

// TensorFlow's scopes begin with a letter, a digit or '.', and hold no others than these and "_-"; Keras 3 has no '/'.
std::string Plan::legal_name(const std::string& wanted) {
  std::string name;
  for (char c : wanted) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (name.empty() && !letter) continue;
    name.push_back(letter || c == '.' || c == '-' ? c : '_');
  }
  if (name.empty()) name = "layer";
  std::string free = name;
  for (int n = 1; !names_.insert(free).second; ++n) free = cat(name, "_", n);
  return free;
}

LayerId Plan::add(WrittenLayer layer, const std::string& wanted) {
  std::string name = wanted;
  if (name.empty()) {
    const int n = numbers_[layer.class_name]++;
    name = layer.class_name;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (n > 0) name += cat("_", n);
  }
  layer.name = legal_name(name);
  if (!wanted.empty() && layer.name != wanted) layer.source_name = wanted;
  layers_.push_back(std::move(layer));
  return static_cast<LayerId>(layers_.size()) - 1;
}

const Tensor& Export::known(size_t i, const char* what) const {
  if (const Tensor* tensor = constant(i)) return *tensor;
  refuse("its ", what, " is computed, not constant");
}

std::vector<int64_t> Export::extents(const Type& type) const {
  if (!type.shape) refuse("a rank is not known");
  std::vector<int64_t> result;
  for (const Dim& dim : *type.shape) result.push_back(dim.size);
  return result;
}

int64_t Export::inner_axis(int64_t axis, int64_t rank) const {
  if (axis < 0) axis += rank;
  if (axis <= 0 || axis >= rank) refuse("it works along axis ", axis, ", which is the batch's");
  return axis;
}

LayerId Export::input(size_t i) {
  const LayerId made = plan_.maker(node_.inputs[i]);
  if (made < 0) refuse("its input ", i, " is a constant, for which no layer stands");
  return made;
}

LayerId Export::layer_of(ValueId v) const {
  const LayerId made = plan_.maker(v);
  if (made < 0) refuse("value '", graph().value(v).name, "' is a constant, for which no layer stands");
  return made;
}

LayerId Export::call(const std::string& class_name, Json config, Json args, const Type& type,
                     std::vector<Variable> variables) {
  WrittenLayer layer;
  layer.class_name = class_name;
  layer.config = std::move(config);
  layer.type = type;
  layer.variables = std::move(variables);
  layer.args = std::move(args);
  return plan_.add(std::move(layer), node_.name);
}

LayerId Export::layer(const std::string& class_name, Json config, const std::vector<LayerId>& inputs, const Type& type,
                      std::vector<Variable> variables) {
  WrittenLayer layer;
  layer.class_name = class_name;
  layer.config = std::move(config);
  layer.type = type;
  layer.variables = std::move(variables);
  if (inputs.size() == 1) {
    layer.args.push_back(tensor(inputs[0]));
  } else {
    Json list = Json::array();
    for (LayerId id : inputs) list.push_back(tensor(id));
    layer.args.push_back(std::move(list));
  }
  return plan_.add(std::move(layer), node_.name);
}

LayerId Export::operation(const std::string& name, Json config, Json args, const Type& type, Json kwargs) {
  if (!keras3()) refuse("no layer does it; a .keras file can hold the operation");
  const size_t dot = name.find('.');
  WrittenLayer layer;
  layer.class_name = name.substr(dot + 1);
  layer.module = "keras.src.ops." + name.substr(0, dot);
  layer.config = std::move(config);
  layer.args = std::move(args);
  layer.kwargs = std::move(kwargs);
  layer.type = type;
  return plan_.add(std::move(layer), node_.name);
}

Json Export::array(const Tensor& tensor) {
  Json values = Json::array();
  for (double v :
       to_doubles(tensor))  // JSON has no infinity; NumPy, which Keras gives the values to, reads these words
    values.push_back(std::isfinite(v) ? Json(v) : Json(std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf"));
  for (size_t axis = tensor.shape().size(); axis-- > 1;) {  // nested as the shape is, from the innermost
    const size_t n = tensor.dim(static_cast<int>(axis));
    Json rows = Json::array();
    for (size_t i = 0; n > 0 && i < values.size(); i += n) {
      Json row = Json::array();
      for (size_t k = i; k < i + n; ++k) row.push_back(std::move(values[k]));
      rows.push_back(std::move(row));
    }
    values = std::move(rows);
  }
  return {{"class_name", "__numpy__"}, {"config", {{"value", values}, {"dtype", dtype_name(tensor.dtype())}}}};
}

Json Export::argument(size_t i) {
  const Tensor* value = constant(i);
  if (value == nullptr) return tensor(input(i));
  if (value->size() == 1 && value->rank() == 0) {
    const double number = to_doubles(*value)[0];
    if (std::isfinite(number)) return number;
    Json scalar = array(value->reshaped({1}));
    scalar["config"]["value"] = Json(scalar["config"]["value"][0]);
    return scalar;
  }
  return array(*value);
}

void Export::result(LayerId layer, size_t i) {
  plan_.define(node_.outputs[i], layer);
  if (i == 0 && taken_) plan_.define(activation_.value, layer);
}

NodeId Export::only_reader(ValueId v) const {
  const std::vector<NodeId>& readers = plan_.uses().readers[v];
  return readers.size() == 1 && !graph().is_output(v) ? readers[0] : -1;
}

const ExportRow* find_export(const Node& node) {
  for (const ExportRow& row : export_rows()) {
    if (node.domain == row.domain && node.op == row.op) return &row;
  }
  return nullptr;
}

}  // namespace dnn::keras
