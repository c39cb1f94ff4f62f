// Placing a model: what dnn-compile --place does, by a file of rules or by a search on the devices.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "place/package.h"

namespace dnn::place {

inline constexpr const char* kAuto = "auto";
inline constexpr const char* kLatency = "latency";
inline constexpr const char* kThroughput = "throughput";

struct PlaceRequest {
  std::string file;   // kAuto, or the name of a file of rules (routing_text.h)
  std::string rules;  // the text of that file
  std::vector<Part> parts;
  std::string goal =
      kLatency;  // of a search: the shortest time of one run, or kThroughput: the most runs a second, several at once
  std::string rules_out;  // where the rules of what the search chose go; "": nowhere
  int64_t runs = 50;      // timed ones of each way that is compared
  DeviceOptions connection;
  CompileOptions compile;
  bool keep_source = false;
  std::function<void(const std::string& line)> say;
};

// The placed package of a graph with its shapes bound. A search says what it found: each device alone, the bound, the ratio, and what stands
// in the way. Where several devices are not worth it, all runs on the best single one. Throws as the functions that it is made of.
Package place_model(const Graph& graph, const PlaceRequest& request);

}  // namespace dnn::place
