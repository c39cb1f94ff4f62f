// The JSON of dnn-branch eval: networks on several devices at once; see data.h.
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "report/data.h"
#include "report/json_fields.h"

namespace dnn::report {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostSegments = 4096;

// A time: a finite number that is not negative.
double time_at(const Json& map, const char* key) {
  const auto it = map.find(key);
  const double value = it != map.end() && it->is_number() ? it->get<double>() : NAN;
  if (!std::isfinite(value) || value < 0) fail_malformed("'", key, "' is no time");
  return value;
}

Branched::Way way_of(const Json& map, const std::string& device) {
  if (!map.is_object()) fail_malformed("a latency is not a map");
  return {device, time_at(map, "median_us"), time_at(map, "p95_us")};
}

Branched network_of(const Json& map) {
  if (!map.is_object() || !map.contains("latency")) fail_malformed("a result has no latency");
  Branched network;
  network.name = text_at(map, "cfg");
  network.at_once = way_of(map["latency"], "all at once");
  for (const Json& one : list_at(map, "alone")) network.alone.push_back(way_of(one, text_at(one, "device")));
  if (const auto all = map.find("together"); all != map.end() && all->is_object())
    network.alone.push_back(way_of(*all, text_at(*all, "device")));
  if (const auto best = map.find("best_single"); best != map.end() && best->is_object())
    network.best = text_at(*best, "device");
  if (const auto ratio = map.find("ratio"); ratio != map.end() && ratio->is_number())
    network.ratio = ratio->get<double>();
  network.bound_us = time_at(map, "bound_us");
  for (const Json& one : list_at(map, "segments")) {
    if (!one.is_object()) fail_malformed("a segment is not a map");
    if (network.segments.size() == kMostSegments) break;
    if (!one.contains("last_us")) continue;  // versions before it did not write when segments ran
    const auto merges = one.find("merges");
    network.segments.push_back({text_at(one, "nodes"), text_at(one, "part"),
                                merges != one.end() && merges->is_boolean() && merges->get<bool>(),
                                time_at(one, "last_begin_us"), time_at(one, "last_us")});
  }
  return network;
}

}  // namespace

bool is_branched(const std::string& text) {
  const Json json = parse_json(text);
  return json.is_object() && json.contains("results") && json["results"].is_array() && !json.contains("layers");
}

std::vector<Branched> parse_branched(const std::string& text) {
  const Json json = parse_json(text);
  if (!json.is_object()) fail_malformed("not JSON of dnn-branch eval");
  std::vector<Branched> networks;
  for (const Json& one : list_at(json, "results")) networks.push_back(network_of(one));
  return networks;
}

}  // namespace dnn::report
