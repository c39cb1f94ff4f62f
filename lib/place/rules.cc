// Placement files: lines of a letter and nodes; see rules.h.
#include "place/rules.h"

#include <algorithm>

#include "base/error.h"

namespace dnn::place {
namespace {

constexpr std::string_view kTo = " .. ", kOperator = "op:";

// True where `text` is what the pattern says: `*` stands for any characters, `?` for one.
bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] == text[t] && pattern[p] != '*'))) {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

class Rules {
 public:
  Rules(const Graph& graph, const std::vector<Part>& parts, const std::string& file)
      : graph_(graph), parts_(parts), file_(file), chosen_(graph.node_slots()) {}

  void add(const std::string& text, size_t number) {
    const std::string line = trimmed(text);
    if (line.empty() || line[0] == '#') return;
    at_ = cat(file_, ":", number);
    const size_t space = line.find_first_of(" \t");
    const std::string nodes = space == std::string::npos ? "" : trimmed(line.substr(space));
    if (space != 1 || nodes.empty())
      fail_usage(at_, ": ", quoted(line), " is not \"LETTER NODES\", such as \"C conv1 .. pool5\" or \"D layer3*\"");
    const size_t part = part_of(line[0]);
    if (const size_t to = nodes.find(kTo); to != std::string::npos) {
      choose_range(trimmed(nodes.substr(0, to)), trimmed(nodes.substr(to + kTo.size())), part);
    } else {
      choose_matching(nodes, part);
    }
  }

  std::optional<size_t> operator()(NodeId id) const { return chosen_[id]; }

 private:
  size_t part_of(char letter) const {
    std::vector<std::string> letters;
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (parts_[p].letter == letter) return p;
      letters.emplace_back(1, parts_[p].letter);
    }
    fail_usage(at_, ": no device has the letter ", letter, "; --devices has ", join(letters));
  }

  void choose_range(const std::string& first, const std::string& last, size_t part) {
    const size_t from = place_in_order(first), to = place_in_order(last);
    if (from > to) fail_usage(at_, ": ", quoted(first), " is behind ", quoted(last), "; exchange them");
    for (size_t i = from; i <= to; ++i) chosen_[graph_.order()[i]] = part;
  }

  size_t place_in_order(const std::string& name) const {
    const std::vector<NodeId>& order = graph_.order();
    const auto found = std::find_if(order.begin(), order.end(), [&](NodeId id) { return name_of(graph_, id) == name; });
    if (found == order.end()) fail_unknown(name);
    return found - order.begin();
  }

  void choose_matching(const std::string& pattern, size_t part) {
    const bool by_operator = starts_with(pattern, kOperator);
    bool any = false;
    for (NodeId id : graph_.order()) {
      const bool fits = by_operator ? matches(pattern.substr(kOperator.size()), graph_.node(id).op)
                                    : pattern == name_of(graph_, id) || matches(pattern, name_of(graph_, id));
      if (!fits) continue;
      chosen_[id] = part;
      any = true;
    }
    if (!any) fail_unknown(pattern);
  }

  [[noreturn]] void fail_unknown(const std::string& name) const {
    std::vector<std::string> names;
    for (NodeId id : graph_.order()) names.push_back(name_of(graph_, id));
    const std::string near = nearest_word(name, names);
    fail_usage(at_, ": the model has no node ", quoted(name), near.empty() ? "" : "; did you mean " + near + "?",
               " (dnn-cat shows them)");
  }

  const Graph& graph_;
  const std::vector<Part>& parts_;
  const std::string file_;
  std::string at_;                             // file and line
  std::vector<std::optional<size_t>> chosen_;  // by NodeId
};

}  // namespace

std::vector<size_t> places_of_nodes(const Graph& graph, const std::function<std::optional<size_t>(NodeId)>& part_of) {
  const Uses uses(graph);
  std::vector<size_t> places(graph.node_slots(), 0);
  for (NodeId id : graph.order()) {
    size_t& place = places[id];
    if (const std::optional<size_t> said = part_of(id)) {
      place = *said;
      continue;
    }
    for (ValueId v : graph.node(id).inputs) {
      const NodeId maker = v == kNoValue ? -1 : uses.producer[v];
      if (maker < 0) continue;
      place = places[maker];
      break;
    }
  }
  return places;
}

const std::string& name_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.name.empty()) return node.name;
  const auto made = std::find_if(node.outputs.begin(), node.outputs.end(), [](ValueId v) { return v != kNoValue; });
  return made == node.outputs.end() ? node.op : graph.value(*made).name;
}

std::vector<size_t> places_by_rules(const Graph& graph, const std::vector<Part>& parts, const std::string& text,
                                    const std::string& file) {
  Rules rules(graph, parts, file);
  size_t number = 0;
  for (const std::string& line : split(text, '\n')) rules.add(line, ++number);
  return places_of_nodes(graph, rules);
}

std::string rules_text(const Graph& graph, const std::vector<Part>& parts, const std::vector<size_t>& places) {
  std::string text;
  const std::vector<NodeId>& order = graph.order();
  for (size_t i = 0; i < order.size();) {
    const size_t part = places[order[i]];
    size_t last = i;
    while (last + 1 < order.size() && places[order[last + 1]] == part) ++last;
    text += cat(parts[part].letter, " ", name_of(graph, order[i]));
    if (last > i) text += cat(kTo, name_of(graph, order[last]));
    text += "\n";
    i = last + 1;
  }
  return text;
}

}  // namespace dnn::place
