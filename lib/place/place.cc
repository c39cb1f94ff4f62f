// place_model(); see place.h.
#include "place/place.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "place/automatic.h"
#include "place/rules.h"

namespace dnn::place {

Package place_model(const Graph& graph, const PlaceRequest& request) {
  std::vector<Part> parts = request.parts;
  const Graph ready = ready_to_place(graph);
  if (request.file != kAuto) {
    const std::vector<size_t> places = places_by_rules(ready, parts, request.rules, request.file);
    for (size_t p = 0; p < parts.size() && request.say; ++p) {
      if (std::find(places.begin(), places.end(), p) == places.end())
        request.say(cat("no node runs on ", parts[p].label()));
    }
    connect_parts(parts, request.connection);
    return make_placed(graph, ready, parts, places, request.compile, request.keep_source);
  }
  connect_parts(parts, request.connection);
  const Found found = find_placement(ready, parts, request.compile, request.runs);
  if (request.say) {
    for (const std::string& line : split(found_text(found), '\n')) {
      if (!line.empty()) request.say(line);
    }
  }
  if (!request.rules_out.empty()) write_file(request.rules_out, rules_text(ready, found.parts, found.places));
  return make_placed(graph, ready, found.parts, found.places, request.compile, request.keep_source);
}

}  // namespace dnn::place
