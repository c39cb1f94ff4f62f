// Reading and writing routings; see routing_text.h.
#include "place/routing_text.h"

#include <algorithm>
#include <sstream>

#include "base/error.h"

namespace dnn::place {
namespace {

constexpr std::string_view kInFlight = "in-flight", kEach = "each";
constexpr int64_t kMostInFlight = 256;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

size_t part_called(const std::string& word, const std::vector<Part>& parts, const std::string& at) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return word == std::string(1, p.letter); });
  if (found == parts.end()) fail_usage(at, ": no device has the letter ", quoted(word));
  return found - parts.begin();
}

// The way of a part, which is begun where it is new.
size_t way_on(size_t part, const Graph& graph, Routing* routing) {
  const std::vector<size_t> places(graph.node_slots(), part);
  const auto found = std::find(routing->ways.begin(), routing->ways.end(), places);
  const size_t way = found - routing->ways.begin();
  if (found == routing->ways.end()) routing->ways.push_back(places);
  return way;
}

}  // namespace

Routed read_routing(const Graph& graph, const std::vector<Part>& parts, const std::string& text,
                    const std::string& file) {
  Routing routing;
  std::string rules;  // the other lines, each where it was
  bool has_rules = false;
  int64_t in_flight = 0;
  size_t number = 0;
  for (const std::string& line : split(text, '\n')) {
    const std::string at = cat(file, ":", ++number);
    const std::vector<std::string> words = words_of(line);
    if (!words.empty() && words[0] == kEach) {
      if (words.size() < 2) fail_usage(at, ": \"each\" wants letters of devices, as \"each C C D\"");
      for (size_t w = 1; w < words.size(); ++w)
        routing.lanes.push_back(way_on(part_called(words[w], parts, at), graph, &routing));
    } else if (!words.empty() && words[0] == kInFlight) {
      if (words.size() != 2 || !parse_int(words[1], &in_flight) || in_flight < 1 || in_flight > kMostInFlight)
        fail_usage(at, ": \"in-flight\" wants a number from 1 to ", kMostInFlight);
    } else {
      has_rules = has_rules || (!words.empty() && words[0][0] != '#');
      rules += line;
    }
    rules += "\n";
  }
  if (routing.lanes.size() > kMostInFlight) fail_usage(file, ": \"each\" has more than ", kMostInFlight, " letters");
  if (!routing.ways.empty()) {
    if (has_rules || in_flight > 0)
      fail_usage(file, ": \"each\" says all of where runs are; leave out the other lines");
    return {graph, routing};
  }
  Divided divided = divide(graph, place_by_rules(graph, parts, rules, file));
  routing.ways = {std::move(divided.places)};
  if (in_flight > 1) routing.lanes.assign(in_flight, 0);
  return {std::move(divided.graph), std::move(routing)};
}

std::string routing_text(const Graph& graph, const std::vector<Part>& parts, const Routing& routing) {
  if (routing.ways.size() == 1) {
    std::string text = rules_text(graph, parts, {routing.ways.front()});
    if (!routing.lanes.empty()) text += cat(kInFlight, " ", routing.lanes.size(), "\n");
    return text;
  }
  std::string text(kEach);
  for (size_t way : routing.lanes) text += cat(" ", parts[routing.ways[way].at(graph.order().front())].letter);
  return text + "\n";
}

}  // namespace dnn::place
