// What dnn-localize --json wrote; see data.h.
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/data.h"

namespace dnn::report {
namespace {

using Json = nlohmann::json;

std::string text_at(const Json& map, const char* key) {
  const auto it = map.find(key);
  return it != map.end() && it->is_string() ? it->get<std::string>() : "";
}

double number_at(const Json& map, const char* key) {
  const auto it = map.find(key);
  if (it == map.end()) return 0;
  if (it->is_number()) return it->get<double>();
  double value = NAN;
  if (it->is_string()) parse_double(it->get<std::string>(), &value);
  return value;
}

int64_t count_at(const Json& map, const char* key) {
  const auto it = map.find(key);
  return it != map.end() && it->is_number_integer() ? it->get<int64_t>() : 0;
}

bool flag_at(const Json& map, const char* key) {
  const auto it = map.find(key);
  return it != map.end() && it->is_boolean() && it->get<bool>();
}

const Json& list_at(const Json& map, const char* key) {
  static const Json kNone = Json::array();
  const auto it = map.find(key);
  return it != map.end() && it->is_array() ? *it : kNone;
}

Localization::Layer layer_of(const Json& map) {
  if (!map.is_object()) fail_malformed("a layer is not a map");
  Localization::Layer layer;
  const auto source = map.find("source");
  if (source != map.end() && source->is_object()) {
    layer.name = text_at(*source, "node");
    if (layer.name.empty()) layer.name = text_at(*source, "name");
    layer.op = text_at(*source, "op");
  }
  layer.error = number_at(map, "error");
  layer.added = number_at(map, "added");
  layer.max_abs = number_at(map, "max_abs");
  layer.diverges = flag_at(map, "diverges");
  layer.makes = flag_at(map, "makes");
  return layer;
}

}  // namespace

Localization parse_localization(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) fail_malformed("not JSON");
  if (!json.is_object() || !json.contains("layers") || !json.contains("source"))
    fail_malformed("JSON, but not of dnn-localize --json: no 'layers'");
  Localization found;
  found.source = text_at(json, "source");
  found.target = text_at(json, "target");
  found.n_samples = count_at(json, "samples");
  found.n_diverging = count_at(json, "diverging");
  for (const Json& layer : list_at(json, "layers")) found.layers.push_back(layer_of(layer));
  if (const auto first = json.find("first"); first != json.end() && first->is_object()) found.first = layer_of(*first);
  for (const Json& parameter : list_at(json, "parameters")) {
    if (!parameter.is_object()) fail_malformed("a parameter is not a map");
    std::string name = text_at(parameter, "attribute");
    if (name.empty()) name = text_at(parameter, "source");
    if (name.empty()) name = text_at(parameter, "target");
    std::string said = cat(name, ": ", text_at(parameter, "relation"));
    if (number_at(parameter, "max_abs") > 0) said += cat(", max abs ", number_at(parameter, "max_abs"));
    found.parameters.push_back({text_at(parameter, "layer"), std::move(said)});
  }
  return found;
}

}  // namespace dnn::report
