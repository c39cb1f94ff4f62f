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

// nullopt for what is no number, nor the text of one.
std::optional<double> number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  double value = 0;
  if (json.is_string() && parse_double(json.get<std::string>(), &value)) return value;
  return std::nullopt;
}

double number_at(const Json& map, const char* key) {
  const auto it = map.find(key);
  return it == map.end() ? 0 : number_of(*it).value_or(NAN);
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

// What versions before it did not write.
void add_samples(const Json& by_sample, Localization* found) {
  for (const Json& sample : list_at(by_sample, "samples")) {
    if (!sample.is_object()) fail_malformed("a sample is not a map");
    found->samples.push_back({text_at(sample, "name"), flag_at(sample, "relabelled")});
  }
  found->n_samples_left_out = std::max<int64_t>(0, count_at(by_sample, "left_out"));
  const Json& errors = list_at(by_sample, "errors");
  if (errors.size() != found->layers.size())
    fail_malformed("errors by sample of ", errors.size(), " layers, where there are ", found->layers.size());
  for (const Json& row : errors) {
    if (!row.is_array() || row.size() != found->samples.size())
      fail_malformed("a layer's errors are not those of ", found->samples.size(), " samples");
    found->sample_errors.emplace_back();
    for (const Json& error : row) {
      const std::optional<double> value = number_of(error);
      found->sample_errors.back().push_back(value && !std::isnan(*value) ? value : std::nullopt);
    }
  }
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
  if (const auto samples = json.find("by_sample"); samples != json.end() && samples->is_object())
    add_samples(*samples, &found);
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
