// place_model(); see place.h.
#include "place/place.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "place/automatic.h"
#include "place/routing_text.h"
#include "place/throughput.h"

namespace dnn::place {
namespace {

void say_lines(const PlaceRequest& request, const std::string& text) {
  if (!request.say) return;
  for (const std::string& line : split(text, '\n')) {
    if (!line.empty()) request.say(line);
  }
}

// By a file of rules; says which parts have nothing to do.
Package by_rules(const Graph& graph, const Graph& ready, const PlaceRequest& request) {
  std::vector<Part> parts = request.parts;
  const Routed routed = read_routing(ready, parts, request.rules, request.file);
  const std::vector<std::vector<size_t>>& ways = routed.routing.ways;
  for (size_t p = 0; p < parts.size() && request.say; ++p) {
    const bool is_used = std::any_of(ways.begin(), ways.end(), [&](const std::vector<size_t>& places) {
      return std::find(places.begin(), places.end(), p) != places.end();
    });
    if (!is_used) request.say(cat("no node runs on ", parts[p].label()));
  }
  connect_parts(parts, request.connection);
  return make_placed(graph, routed.graph, parts, routed.routing, request.compile, request.keep_source);
}

Package for_throughput(const Graph& graph, const Graph& ready, const std::vector<Part>& parts,
                       const PlaceRequest& request) {
  const FoundStream found = find_stream_routing(ready, parts, request.compile, request.runs);
  say_lines(request, found_text(found));
  const StreamWay& chosen = found.chosen();
  if (!request.rules_out.empty()) write_file(request.rules_out, routing_text(ready, chosen.parts, chosen.routing));
  return make_placed(graph, ready, chosen.parts, chosen.routing, request.compile, request.keep_source);
}

Package for_latency(const Graph& graph, const Graph& ready, const std::vector<Part>& parts,
                    const PlaceRequest& request) {
  const Found found = find_placement(ready, parts, request.compile, request.runs);
  say_lines(request, found_text(found));
  if (!request.rules_out.empty()) write_file(request.rules_out, rules_text(ready, found.parts, found.placement));
  const Divided placed = divide(ready, found.placement);
  return make_placed(graph, placed.graph, found.parts, {{placed.places}}, request.compile, request.keep_source);
}

}  // namespace

Package place_model(const Graph& graph, const PlaceRequest& request) {
  const Graph ready = ready_to_place(graph);
  if (request.file != kAuto) return by_rules(graph, ready, request);
  std::vector<Part> parts = request.parts;
  connect_parts(parts, request.connection);
  return request.goal == kThroughput ? for_throughput(graph, ready, parts, request)
                                     : for_latency(graph, ready, parts, request);
}

}  // namespace dnn::place
