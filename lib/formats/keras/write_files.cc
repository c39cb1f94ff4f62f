// A plan of layers as the two files of Keras; see export.h.
#include <algorithm>

#include "base/zip_write.h"
#include "formats/keras/archive.h"
#include "formats/keras/export.h"
#include "formats/wire/hdf5_write.h"

namespace dnn::keras {
namespace {

// The versions that files say they are of; readers look at the number in front.
constexpr const char *kVersion2 = "2.15.0", *kVersion3 = "3.0.0";

class Config {
 public:
  explicit Config(const Plan& plan) : plan_(plan), old_(plan.dialect() == Dialect::Keras2) {}

  Json model() const {
    Json layers = Json::array();
    for (size_t i = 0; i < plan_.layers().size(); ++i) layers.push_back(layer(static_cast<LayerId>(i)));
    const std::string name = plan_.graph().name.empty() ? "model" : plan_.graph().name;
    Json config = {{"name", name},
                   {"trainable", true},
                   {"layers", layers},
                   {"input_layers", ends(plan_.graph().inputs)},
                   {"output_layers", ends(plan_.graph().outputs)}};
    Json result = {{"class_name", "Functional"}, {"config", config}};
    if (old_) return result;
    result["module"] = "keras.src.models.functional";
    result["registered_name"] = "Functional";
    return result;
  }

 private:
  const WrittenLayer& at(LayerId id) const { return plan_.layers()[id]; }

  static Json shape(const Type& type) {
    Json result = Json::array();
    for (const Dim& dim : *type.shape) result.push_back(dim.fixed() ? Json(dim.size) : Json());
    return result;
  }

  Json ends(const std::vector<ValueId>& values) const {
    Json list = Json::array();
    for (ValueId v : values) list.push_back(Json::array({at(plan_.maker(v)).name, 0, 0}));
    return list.size() == 1 && !old_ ? list[0] : list;
  }

  Json tensor(LayerId id) const {
    const WrittenLayer& layer = at(id);
    return {{"class_name", "__keras_tensor__"},
            {"config",
             {{"shape", shape(layer.type)},
              {"dtype", dtype_name(layer.type.dtype)},
              {"keras_history", Json::array({layer.name, 0, 0})}}}};
  }

  static bool is_layer(const Json& v) { return v.is_object() && v.size() == 1 && v.contains("tensor"); }
  static LayerId id_of(const Json& v) { return v["tensor"][0].get<LayerId>(); }

  Json resolved(const Json& v) const {
    if (is_layer(v)) return tensor(id_of(v));
    if (!v.is_structured()) return v;
    Json result = v;
    for (Json& item : result) item = resolved(item);
    return result;
  }

  Json calls(const WrittenLayer& layer) const {
    if (layer.class_name == "InputLayer") return Json::array();
    if (!old_) return Json::array({{{"args", resolved(layer.args)}, {"kwargs", resolved(layer.kwargs)}}});
    Json call = Json::array();
    const Json& inputs = is_layer(layer.args[0]) ? layer.args : layer.args[0];
    for (const Json& input : inputs) call.push_back(Json::array({at(id_of(input)).name, 0, 0, Json::object()}));
    return Json::array({call});
  }

  Json layer(LayerId id) const {
    const WrittenLayer& layer = at(id);
    Json config = layer.config;
    config["name"] = layer.name;
    if (layer.class_name == "InputLayer") {
      config[old_ ? "batch_input_shape" : "batch_shape"] = shape(layer.type);
      config["dtype"] = dtype_name(layer.type.dtype);
      config["sparse"] = false;
    } else if (layer.module.empty()) {
      config["trainable"] = true;
      if (is_float(layer.type.dtype)) config["dtype"] = dtype_name(layer.type.dtype);
    }
    Json result = {
        {"class_name", layer.class_name}, {"config", config}, {"name", layer.name}, {"inbound_nodes", calls(layer)}};
    if (!layer.source_name.empty()) result[kSourceKey]["node"] = layer.source_name;
    if (!layer.value_name.empty() && layer.value_name != layer.name) result[kSourceKey]["value"] = layer.value_name;
    if (old_) return result;
    result["module"] = layer.module.empty() ? "keras.layers" : layer.module;
    result["registered_name"] = layer.module.empty() ? Json() : Json(layer.class_name);
    return result;
  }

  const Plan& plan_;
  const bool old_;
};

std::string text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json metadata_of(const Graph& graph) {
  Json result = Json::object();
  for (const auto& [key, value] : graph.metadata) result[key] = value;
  return result;
}

// Names of a layer's weights in .h5: the source's, where HDF5 can hold all of them beside each other, else Keras' own.
std::vector<std::string> weight_names(const WrittenLayer& layer) {
  std::vector<std::string> own, sources;
  bool usable = true;
  for (const Variable& variable : layer.variables) {
    own.push_back(cat(layer.name, "/", variable.role, ":0"));
    sources.push_back(variable.source.empty() ? own.back() : variable.source);
    for (const std::string& part : split(sources.back(), '/'))
      usable = usable && !part.empty() && part != "." && part != "..";
    usable = usable && sources.back().find('\0') == std::string::npos;
  }
  for (const std::string& a : sources) {
    for (const std::string& b : sources) usable = usable && (&a == &b || (a != b && !starts_with(b, a + "/")));
  }
  return usable ? sources : own;
}

}  // namespace

Content write_h5(const Plan& plan) {
  hdf5::Written root;
  root.set("keras_version", kVersion2);
  root.set("backend", "tensorflow");
  root.set("model_config", text(Config(plan).model()));
  if (!plan.graph().metadata.empty()) root.set(kMetadataKey, text(metadata_of(plan.graph())));
  hdf5::Written& weights = root.at("model_weights");
  std::vector<std::string> names;
  for (const WrittenLayer& layer : plan.layers()) {
    names.push_back(layer.name);
    weights.members.emplace_back();
    hdf5::Written& group = weights.members.back();
    group.name = layer.name;
    std::vector<std::string> own = weight_names(layer);
    for (size_t i = 0; i < own.size(); ++i) group.at(own[i]).data = layer.variables[i].value;
    group.set("weight_names", std::move(own));
  }
  constexpr size_t kMost = 3000;  // names in one attribute, which is at most 64 KiB
  for (size_t first = 0; first < names.size(); first += kMost) {
    const auto begin = names.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), first + kMost));
    weights.set(names.size() <= kMost ? "layer_names" : cat("layer_names", first / kMost),
                std::vector<std::string>(begin, end));
  }
  weights.set("backend", "tensorflow");
  weights.set("keras_version", kVersion2);
  return hdf5::to_content(root);
}

Content write_zip(const Plan& plan) {
  hdf5::Written root;
  root.at("layers");
  std::map<std::string, int> used;
  for (const WrittenLayer& layer : plan.layers()) {
    if (!layer.module.empty()) continue;
    const std::string path = snake_case(layer.class_name);
    const int n = used[path]++;
    if (layer.variables.empty()) continue;
    const std::string group = cat("layers/", path, n == 0 ? "" : cat("_", n));
    std::map<std::string, int> counts;
    for (const Variable& variable : layer.variables) {
      // "query_dense/kernel" is the first variable of a layer inside.
      const size_t slash = variable.role.find('/');
      const std::string inner = slash == std::string::npos ? "" : "/" + variable.role.substr(0, slash);
      const int i = counts[inner]++;
      hdf5::Written& vars = root.at(cat(group, inner, "/vars"));
      if (i == 0) vars.set("name", inner.empty() ? layer.name : inner.substr(1));
      hdf5::Written& dataset = vars.at(cat(i));
      dataset.data = variable.value;
      if (!variable.source.empty() && variable.source != cat(layer.name, "/", variable.role))
        dataset.set("name", variable.source);
    }
  }
  Json about = {{"keras_version", kVersion3}};
  if (!plan.graph().metadata.empty()) about[kMetadataKey] = metadata_of(plan.graph());
  ZipWriter zip(64);
  zip.add("metadata.json", text(about));
  zip.add("config.json", text(Config(plan).model()));
  zip.add("model.weights.h5", hdf5::to_content(root));
  return zip.content();
}

}  // namespace dnn::keras
