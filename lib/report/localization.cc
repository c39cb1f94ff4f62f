// What dnn-localize --json wrote; see data.h.
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/json_text.h"
#include "report/data.h"
#include "report/json_fields.h"

namespace dnn::report {
namespace {

using Json = nlohmann::json;

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

Localization::Layer layer_of(const Json& map) {
  if (!map.is_object()) fail_malformed("a layer is not a map");
  Localization::Layer layer;
  const auto source = map.find("source");
  if (source != map.end() && source->is_object()) {
    layer.name = text_at(*source, "node");
    if (layer.name.empty()) layer.name = text_at(*source, "name");
    layer.op = text_at(*source, "op");
    layer.source_value = text_at(*source, "name");
  }
  if (const auto target = map.find("target"); target != map.end() && target->is_object()) {
    layer.target_value = text_at(*target, "name");
    layer.target_node = text_at(*target, "node");
  }
  layer.error = number_at(map, "error");
  layer.added = number_at(map, "added");
  layer.max_abs = number_at(map, "max_abs");
  layer.diverges = flag_at(map, "diverges");
  layer.makes = flag_at(map, "makes");
  return layer;
}

Localization::Where where_of(const Json& finding, const char* side) {
  Localization::Where where;
  const auto at = finding.find(side);
  if (at == finding.end() || !at->is_object()) return where;
  for (const auto& [key, list] : {std::pair("nodes", &where.nodes), {"values", &where.values}}) {
    for (const Json& name : list_at(*at, key)) {
      if (name.is_string()) list->push_back(name.get<std::string>());
    }
  }
  return where;
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

constexpr size_t kMostExtent = 256, kMostChannels = 16, kMostMaps = 16;

// Whole numbers in 127ths of `largest`; the first plane says how many rows and columns there are.
std::vector<std::optional<double>> plane_of(const Json& rows, double largest, Localization::Maps* maps) {
  std::vector<std::optional<double>> values;
  if (!rows.is_array() || rows.empty() || rows.size() > kMostExtent || !rows[0].is_array() || rows[0].empty() ||
      rows[0].size() > kMostExtent)
    fail_malformed("a map is not of 1 to ", kMostExtent, " rows and columns");
  if (maps->rows == 0) {
    maps->rows = rows.size();
    maps->columns = rows[0].size();
  }
  if (rows.size() != maps->rows) fail_malformed("maps of ", maps->rows, " and ", rows.size(), " rows");
  for (const Json& row : rows) {
    if (!row.is_array() || row.size() != maps->columns)
      fail_malformed("a row of a map is not of ", maps->columns, " columns");
    for (const Json& value : row) {
      const bool known = value.is_number() && std::abs(value.get<double>()) <= 127;
      values.push_back(known ? std::optional(value.get<double>() / 127 * largest) : std::nullopt);
    }
  }
  return values;
}

double largest_at(const Json& map, const char* key) {
  const double value = number_at(map, key);
  return std::isfinite(value) ? std::abs(value) : 0;
}

// What versions before it did not write.
void add_maps(const Json& json, Localization* found) {
  const Json& findings = list_at(json, "findings");
  for (const Json& map : list_at(json, "maps")) {
    if (!map.is_object()) fail_malformed("maps of a layer are not a map");
    if (found->maps.size() == kMostMaps) return;
    Localization::Maps maps;
    maps.layer = text_at(map, "layer");
    maps.sample = text_at(map, "sample");
    if (const auto finding = map.find("finding"); finding != map.end() && finding->is_number_unsigned()) {
      maps.isolated = true;
      const auto i = finding->get<size_t>();
      if (i < findings.size() && findings[i].is_object()) maps.what = text_at(findings[i], "what");
    }
    maps.n_channels = count_at(map, "channels_of_layer");
    maps.height = count_at(map, "height");
    maps.width = count_at(map, "width");
    for (const Json& channel : list_at(map, "channels")) {
      if (!channel.is_object()) fail_malformed("a channel's maps are not a map");
      if (maps.channels.size() == kMostChannels) break;
      const double largest = largest_at(channel, "largest");
      Localization::Channel c;
      c.channel = count_at(channel, "channel");
      c.max_abs = number_at(channel, "max_abs");
      const auto plane = [&](const char* key, double scale) {
        return plane_of(channel.contains(key) ? channel.at(key) : Json(), scale, &maps);
      };
      c.source = plane("source", largest);
      c.target = plane("target", largest);
      c.difference = plane("difference", largest_at(channel, "largest_difference"));
      maps.channels.push_back(std::move(c));
    }
    if (!maps.channels.empty()) found->maps.push_back(std::move(maps));
  }
}

}  // namespace

Localization parse_localization(const std::string& text) {
  const Json json = parse_json(text);
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
  for (const Json& finding : list_at(json, "findings")) {
    if (!finding.is_object()) fail_malformed("a finding is not a map");
    found.findings.push_back(
        {text_at(finding, "what"), text_at(finding, "fix"), where_of(finding, "source"), where_of(finding, "target")});
  }
  add_maps(json, &found);
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
