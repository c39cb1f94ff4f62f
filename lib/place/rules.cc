// Placement files: lines of a letter and nodes; see rules.h.
#include "place/rules.h"

#include <algorithm>
#include <map>
#include <set>

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

// The letters in front of a line's nodes: one, or several with their shares.
struct Letters {
  std::vector<size_t> parts;
  std::vector<int64_t> shares;  // by part; 1 where the line says nothing
};

class Rules {
 public:
  Rules(const Graph& graph, const std::vector<Part>& parts, const std::string& file)
      : graph_(graph), parts_(parts), file_(file), chosen_(graph.node_slots()), line_of_(graph.node_slots(), 0) {}

  void add(const std::string& text, size_t number) {
    const std::string line = trimmed(text);
    if (line.empty() || line[0] == '#') return;
    number_ = number;
    at_ = cat(file_, ":", number);
    const size_t space = line.find_first_of(" \t");
    const std::string nodes = space == std::string::npos ? "" : trimmed(line.substr(space));
    const bool several = line.substr(0, space).find('+') != std::string::npos;
    if ((space != 1 && !several) || nodes.empty())
      fail_usage(at_, ": ", quoted(line),
                 " is not \"LETTER NODES\", such as \"C conv1 .. pool5\", \"D layer3*\" or \"C+D conv2\"");
    const Letters letters = letters_in(line.substr(0, space));
    if (several) divided_[number] = {letters, nodes};
    const size_t part = letters.parts.front();
    if (const size_t to = nodes.find(kTo); to != std::string::npos) {
      choose_range(trimmed(nodes.substr(0, to)), trimmed(nodes.substr(to + kTo.size())), part);
    } else {
      choose_matching(nodes, part);
    }
  }

  Placement placement() {
    Placement result{places_of_nodes(graph_, [&](NodeId id) { return chosen_[id]; }), {}};
    if (divided_.empty()) return result;
    const ChannelChains chains(graph_);
    std::set<NodeId> taken;
    for (NodeId id : graph_.order()) {
      const auto line = divided_.find(line_of_[id]);
      if (line == divided_.end()) continue;
      const auto& [number, named] = *line;
      if (taken.count(id) == 0) {
        std::string why = chains.obstacle(id);
        Chain chain;
        if (why.empty()) {
          // Later lines win: a node that one of them names is no part of the chain.
          chain =
              chains.chain(id, [&](NodeId next) { return line_of_[next] <= line_of_[id] && taken.count(next) == 0; });
          if (chain.channels < static_cast<int64_t>(named.letters.parts.size()))
            why = cat("it has ", chain.channels, " channels for ", named.letters.parts.size(), " devices");
        }
        if (why.empty()) {
          result.divisions.push_back(division(std::move(chain), named.letters));
          for (const ChainNode& node : result.divisions.back().chain.nodes) taken.insert(node.id);
        } else if (named.nodes == name_of(graph_, id)) {
          fail_usage(file_, ":", number, ": ", quoted(named.nodes), " cannot be divided: ", why,
                     "; name another node, or give it one letter");
        }
      }
      undivided_.try_emplace(number, true).first->second &= taken.count(id) == 0;
    }
    for (const auto& [number, none] : undivided_) {
      if (none)
        fail_usage(file_, ":", number, ": no node of ", quoted(divided_.at(number).nodes),
                   " can be divided by its channels; give them one letter");
    }
    return result;
  }

 private:
  // A line of several letters.
  struct DividedLine {
    Letters letters;
    std::string nodes;
  };

  size_t part_of(char letter) const {
    std::vector<std::string> letters;
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (parts_[p].letter == letter) return p;
      letters.emplace_back(1, parts_[p].letter);
    }
    fail_usage(at_, ": no device has the letter ", letter, "; --devices has ", join(letters));
  }

  // "C", "C+D" or "C:3+D:1".
  Letters letters_in(const std::string& text) const {
    constexpr int64_t kMostShare = 1'000'000;
    Letters result;
    for (const std::string& entry : split(text, '+')) {
      int64_t share = 1;
      const bool has_share = entry.size() > 2 && entry[1] == ':';
      if (entry.empty() || (entry.size() > 1 && !has_share) ||
          (has_share && (!parse_int(entry.substr(2), &share) || share < 1 || share > kMostShare)))
        fail_usage(at_, ": ", quoted(text), " is no list of letters; write C+D, or C:3+D:1 with shares from 1 to ",
                   kMostShare);
      const size_t part = part_of(entry[0]);
      if (std::find(result.parts.begin(), result.parts.end(), part) != result.parts.end())
        fail_usage(at_, ": the letter ", entry[0], " comes twice");
      result.parts.push_back(part);
      result.shares.push_back(share);
    }
    return result;
  }

  static Division division(Chain chain, const Letters& letters) {
    const std::vector<int64_t> channels = shares_of(chain.channels, letters.shares);
    Division result{std::move(chain), {}};
    for (size_t k = 0; k < channels.size(); ++k) result.slices.push_back({letters.parts[k], channels[k]});
    return result;
  }

  void choose(NodeId id, size_t part) {
    chosen_[id] = part;
    line_of_[id] = number_;
  }

  void choose_range(const std::string& first, const std::string& last, size_t part) {
    const size_t from = place_in_order(first), to = place_in_order(last);
    if (from > to) fail_usage(at_, ": ", quoted(first), " is behind ", quoted(last), "; exchange them");
    for (size_t i = from; i <= to; ++i) choose(graph_.order()[i], part);
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
      choose(id, part);
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
  size_t number_ = 0;                          // of the line that is added
  std::string at_;                             // file and line
  std::vector<std::optional<size_t>> chosen_;  // by NodeId
  std::vector<size_t> line_of_;                // by NodeId: the last line that names it; 0: none
  std::map<size_t, DividedLine> divided_;      // by line
  std::map<size_t, bool> undivided_;           // lines that some nodes follow, but no division
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

Placement place_by_rules(const Graph& graph, const std::vector<Part>& parts, const std::string& text,
                         const std::string& file) {
  Rules rules(graph, parts, file);
  size_t number = 0;
  for (const std::string& line : split(text, '\n')) rules.add(line, ++number);
  return rules.placement();
}

std::string rules_text(const Graph& graph, const std::vector<Part>& parts, const Placement& placement) {
  std::string text;
  const std::vector<NodeId>& order = graph.order();
  for (size_t i = 0; i < order.size();) {
    const size_t part = placement.places[order[i]];
    size_t last = i;
    while (last + 1 < order.size() && placement.places[order[last + 1]] == part) ++last;
    text += cat(parts[part].letter, " ", name_of(graph, order[i]));
    if (last > i) text += cat(kTo, name_of(graph, order[last]));
    text += "\n";
    i = last + 1;
  }
  for (const Division& division : placement.divisions) {
    std::vector<std::string> letters;
    for (const Slice& slice : division.slices) letters.push_back(cat(parts[slice.part].letter, ":", slice.channels));
    text += cat(join(letters, "+"), " ", name_of(graph, division.chain.nodes.front().id), "\n");
  }
  return text;
}

}  // namespace dnn::place
