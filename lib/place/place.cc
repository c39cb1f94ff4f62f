// place_model(); see place.h.
#include "place/place.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "place/automatic.h"
#include "place/placement_text.h"
#include "place/throughput.h"

namespace dnn::place {

namespace {

void say_lines(const PlaceRequest& request, const std::string& text) {
  if (!request.say) return;
  for (const std::string& line : split(text, '\n')) {
    if (!line.empty()) request.say(line);
  }
}

// The parts and the placement that a search finds.
std::pair<std::vector<Part>, Placement> search(const Graph& ready, const std::vector<Part>& parts,
                                               const PlaceRequest& request) {
  if (request.goal == kThroughput) {
    const FoundStream found = find_stream_placement(ready, parts, request.compile, request.runs);
    say_lines(request, found_text(found));
    return {found.chosen().parts, found.chosen().placement};
  }
  const Found found = find_placement(ready, parts, request.compile, request.runs);
  say_lines(request, found_text(found));
  return {found.parts, {{found.places}, {}}};
}

Placement by_rules(const Graph& ready, const std::vector<Part>& parts, const PlaceRequest& request) {
  Placement placement = read_placement(ready, parts, request.rules, request.file);
  for (size_t p = 0; p < parts.size() && request.say; ++p) {
    const bool is_used = std::any_of(
        placement.ways.begin(), placement.ways.end(),
        [&](const std::vector<size_t>& places) { return std::find(places.begin(), places.end(), p) != places.end(); });
    if (!is_used) request.say(cat("no node runs on ", parts[p].label()));
  }
  return placement;
}

}  // namespace

Package place_model(const Graph& graph, const PlaceRequest& request) {
  std::vector<Part> parts = request.parts;
  const Graph ready = ready_to_place(graph);
  if (request.file != kAuto) {
    const Placement placement = by_rules(ready, parts, request);
    connect_parts(parts, request.connection);
    return make_placed(graph, ready, parts, placement, request.compile, request.keep_source);
  }
  connect_parts(parts, request.connection);
  const auto [on, placement] = search(ready, parts, request);
  if (!request.rules_out.empty()) write_file(request.rules_out, placement_text(ready, on, placement));
  return make_placed(graph, ready, on, placement, request.compile, request.keep_source);
}

}  // namespace dnn::place
