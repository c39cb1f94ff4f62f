// Reading and writing placements; see placement_text.h.
#include "place/placement_text.h"

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "place/rules.h"

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
size_t way_on(size_t part, const Graph& graph, Placement* placement) {
  const std::vector<size_t> places(graph.node_slots(), part);
  const auto found = std::find(placement->ways.begin(), placement->ways.end(), places);
  const size_t way = found - placement->ways.begin();
  if (found == placement->ways.end()) placement->ways.push_back(places);
  return way;
}

}  // namespace

Placement read_placement(const Graph& graph, const std::vector<Part>& parts, const std::string& text,
                         const std::string& file) {
  Placement placement;
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
        placement.lanes.push_back(way_on(part_called(words[w], parts, at), graph, &placement));
    } else if (!words.empty() && words[0] == kInFlight) {
      if (words.size() != 2 || !parse_int(words[1], &in_flight) || in_flight < 1 || in_flight > kMostInFlight)
        fail_usage(at, ": \"in-flight\" wants a number from 1 to ", kMostInFlight);
    } else {
      has_rules = has_rules || (!words.empty() && words[0][0] != '#');
      rules += line;
    }
    rules += "\n";
  }
  if (placement.lanes.size() > kMostInFlight) fail_usage(file, ": \"each\" has more than ", kMostInFlight, " letters");
  if (!placement.ways.empty()) {
    if (has_rules || in_flight > 0)
      fail_usage(file, ": \"each\" says all of where runs are; leave out the other lines");
    return placement;
  }
  placement.ways = {places_by_rules(graph, parts, rules, file)};
  if (in_flight > 1) placement.lanes.assign(in_flight, 0);
  return placement;
}

std::string placement_text(const Graph& graph, const std::vector<Part>& parts, const Placement& placement) {
  if (placement.ways.size() == 1) {
    std::string text = rules_text(graph, parts, placement.ways.front());
    if (!placement.lanes.empty()) text += cat(kInFlight, " ", placement.lanes.size(), "\n");
    return text;
  }
  std::string text(kEach);
  for (size_t way : placement.lanes) text += cat(" ", parts[placement.ways[way].at(graph.order().front())].letter);
  return text + "\n";
}

}  // namespace dnn::place
