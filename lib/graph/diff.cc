// The difference of two graphs; see diff.h.
#include "graph/diff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "graph/text.h"

namespace dnn {
namespace {

constexpr size_t kMaxAlignedNodes = 2000;  // alignment by operator is quadratic

bool is_numeric(DType dtype) { return is_float(dtype) || is_integer(dtype) || dtype == DType::Bool; }

class Comparison {
 public:
  Comparison(const Graph& a, const Graph& b, std::string where, std::vector<std::string>& out)
      : a_(a), b_(b), where_(std::move(where)), out_(out) {}

  void run() {
    match_values("input", a_.inputs, b_.inputs);
    match_values("capture", a_.captures, b_.captures);
    const std::vector<std::pair<NodeId, NodeId>> pairs = match_nodes();
    for (const auto& [left, right] : pairs) match_outputs(left, right);
    for (const auto& [left, right] : pairs) {
      if (right < 0) {
        say("- " + a_.node(left).label());
      } else if (left < 0) {
        say("+ " + b_.node(right).label());
      } else {
        compare_nodes(a_.node(left), b_.node(right));
      }
    }
    compare_graph_outputs();
    compare_metadata();
  }

 private:
  void say(const std::string& text) { out_.push_back(text.substr(0, 2) + where_ + text.substr(2)); }
  void differ(const std::string& what, const std::string& left, const std::string& right) {
    say("~ " + what + ": " + left + " | " + right);
  }

  // Inputs: by name where both have it, else by place.
  void match_values(const char* kind, const std::vector<ValueId>& left, const std::vector<ValueId>& right) {
    std::map<std::string, ValueId> by_name;
    for (ValueId id : right) by_name[b_.value(id).name] = id;
    for (size_t i = 0; i < left.size(); ++i) {
      const Value& value = a_.value(left[i]);
      const auto found = by_name.find(value.name);
      if (found == by_name.end() && (i >= right.size() || a_.find_value(b_.value(right[i]).name) != kNoValue)) {
        say(cat("- ", kind, " ", value.name));
        continue;
      }
      const ValueId other = found == by_name.end() ? right[i] : found->second;
      pair_[left[i]] = other;
      by_name.erase(b_.value(other).name);
      if (value.name != b_.value(other).name) differ(cat(kind, " ", i, " is named"), value.name, b_.value(other).name);
      compare_types(cat(kind, " ", value.name), left[i], other);
    }
    for (const auto& [name, id] : by_name) say(cat("+ ", kind, " ", name));
  }

  void compare_types(const std::string& what, ValueId left, ValueId right) {
    const Type &a = a_.value(left).type, &b = b_.value(right).type;
    const bool known = a.dtype != DType::Undefined && b.dtype != DType::Undefined && a.shape && b.shape;
    if (known && !(a == b)) differ(what, type_text(a), type_text(b));
  }

  using Key = std::pair<std::string, std::string>;

  // Pairs in a's order, what only b has (-1 first) at the place where it stands in b.
  std::vector<std::pair<NodeId, NodeId>> match_nodes() {
    std::map<NodeId, NodeId> matched, backwards;
    const auto by = [&](auto key_of) {
      std::map<Key, std::vector<NodeId>> left, right;
      for (NodeId id : a_.order()) {
        if (matched.count(id) == 0) left[key_of(a_, id)].push_back(id);
      }
      for (NodeId id : b_.order()) {
        if (backwards.count(id) == 0) right[key_of(b_, id)].push_back(id);
      }
      for (const auto& [key, ids] : left) {
        const auto found = right.find(key);
        if (key.second.empty() || ids.size() != 1 || found == right.end() || found->second.size() != 1) continue;
        matched[ids[0]] = found->second[0];
        backwards[found->second[0]] = ids[0];
      }
    };
    by([](const Graph& graph, NodeId id) { return Key(graph.node(id).op, graph.node(id).name); });
    by([](const Graph& graph, NodeId id) {
      const ValueId made = graph.node(id).output(0);
      return Key(graph.node(id).op, made == kNoValue ? "" : graph.value(made).name);
    });
    align_rest(matched, backwards);
    std::vector<std::pair<NodeId, NodeId>> pairs;
    size_t next = 0;
    const auto flush_until = [&](NodeId stop) {
      for (; next < b_.order().size() && b_.order()[next] != stop; ++next) {
        if (backwards.count(b_.order()[next]) == 0) pairs.emplace_back(-1, b_.order()[next]);
      }
    };
    for (NodeId id : a_.order()) {
      const auto found = matched.find(id);
      if (found != matched.end() && std::find(b_.order().begin() + static_cast<int64_t>(next), b_.order().end(),
                                              found->second) != b_.order().end()) {
        flush_until(found->second);
      }
      pairs.emplace_back(id, found == matched.end() ? -1 : found->second);
    }
    flush_until(-1);
    return pairs;
  }

  // The longest common subsequence of operators among the nodes that names did not match.
  void align_rest(std::map<NodeId, NodeId>& matched, std::map<NodeId, NodeId>& backwards) const {
    std::vector<NodeId> left, right;
    for (NodeId id : a_.order()) {
      if (matched.count(id) == 0) left.push_back(id);
    }
    for (NodeId id : b_.order()) {
      if (backwards.count(id) == 0) right.push_back(id);
    }
    if (left.size() > kMaxAlignedNodes || right.size() > kMaxAlignedNodes) return;
    const size_t width = right.size() + 1;
    std::vector<int> length((left.size() + 1) * width, 0);
    const auto same = [&](size_t i, size_t j) {
      return a_.node(left[i]).op == b_.node(right[j]).op && a_.node(left[i]).domain == b_.node(right[j]).domain;
    };
    for (size_t i = left.size(); i-- > 0;) {
      for (size_t j = right.size(); j-- > 0;) {
        length[i * width + j] = same(i, j) ? length[(i + 1) * width + j + 1] + 1
                                           : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
      }
    }
    for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
      if (same(i, j)) {
        matched[left[i]] = right[j];
        backwards[right[j]] = left[i];
        ++i, ++j;
      } else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) {
        ++i;
      } else {
        ++j;
      }
    }
  }

  void match_outputs(NodeId left, NodeId right) {
    if (left < 0 || right < 0) return;
    const Node &a = a_.node(left), &b = b_.node(right);
    for (size_t i = 0; i < a.outputs.size() && i < b.outputs.size(); ++i) {
      if (a.outputs[i] != kNoValue && b.outputs[i] != kNoValue) pair_[a.outputs[i]] = b.outputs[i];
    }
  }

  void compare_nodes(const Node& a, const Node& b) {
    const std::string what = a.label();
    if (a.name != b.name) differ(what + " is named", dnn::quoted(a.name), dnn::quoted(b.name));
    if (a.outputs.size() != b.outputs.size()) differ(what + ": outputs", cat(a.outputs.size()), cat(b.outputs.size()));
    for (size_t i = 0; i < std::max(a.inputs.size(), b.inputs.size()); ++i)
      compare_operands(what, i, a.input(i), b.input(i));
    for (size_t i = 0; i < std::min(a.outputs.size(), b.outputs.size()); ++i) {
      if (a.outputs[i] == kNoValue || b.outputs[i] == kNoValue) continue;
      const Value &left = a_.value(a.outputs[i]), &right = b_.value(b.outputs[i]);
      if (left.name != right.name) differ(cat(what, ": output ", i, " is named"), left.name, right.name);
      compare_types(cat(what, ": output ", i), a.outputs[i], b.outputs[i]);
    }
    for (const auto& [key, value] : a.attributes) {
      const auto found = b.attributes.find(key);
      if (found == b.attributes.end()) {
        say(cat("- ", what, ": ", key, " = ", attribute_text(value)));
      } else {
        compare_attributes(what, key, value, found->second);
      }
    }
    for (const auto& [key, value] : b.attributes) {
      if (a.attributes.count(key) == 0) say(cat("+ ", what, ": ", key, " = ", attribute_text(value)));
    }
  }

  void compare_attributes(const std::string& what, const std::string& key, const Attribute& a, const Attribute& b) {
    const auto* body_a = std::get_if<std::shared_ptr<const Graph>>(&a);
    const auto* body_b = std::get_if<std::shared_ptr<const Graph>>(&b);
    if (body_a != nullptr && body_b != nullptr) {
      Comparison(**body_a, **body_b, where_ + what + ": " + key + ": ", out_).run();
      return;
    }
    const auto *tensor_a = std::get_if<Tensor>(&a), *tensor_b = std::get_if<Tensor>(&b);
    if (tensor_a != nullptr && tensor_b != nullptr) {
      compare_tensors(what + ": " + key, *tensor_a, *tensor_b);
      return;
    }
    const std::string left = attribute_text(a), right = attribute_text(b);
    if (left != right) differ(what + ": " + key, left, right);
  }

  std::string operand_text(const Graph& graph, ValueId id) const {
    if (id == kNoValue) return "nothing";
    return (graph.constant(id) != nullptr ? "constant " : "") + name_text(graph.value(id).name);
  }

  void compare_operands(const std::string& what, size_t i, ValueId left, ValueId right) {
    const std::string place = cat(what, ": input ", i);
    const Tensor *a = a_.constant(left), *b = b_.constant(right);
    if (a != nullptr && b != nullptr) {
      compare_tensors(place + " (" + a_.value(left).name + ")", *a, *b);
      return;
    }
    const auto found = pair_.find(left);
    const bool unmatched = left != kNoValue && right != kNoValue && found == pair_.end();
    const bool same = left == kNoValue ? right == kNoValue
                      : unmatched      ? a_.value(left).name == b_.value(right).name  // its makers are - and + lines
                                       : found != pair_.end() && found->second == right;
    if (!same || (a == nullptr) != (b == nullptr)) differ(place, operand_text(a_, left), operand_text(b_, right));
  }

  void compare_tensors(const std::string& what, const Tensor& a, const Tensor& b) {
    if (a.identical(b)) return;
    if (a.dtype() != b.dtype() || a.shape() != b.shape()) differ(what, type_text(Type(a)), type_text(Type(b)));
    if (a.shape() != b.shape()) return;
    if (!is_numeric(a.dtype()) || !is_numeric(b.dtype())) {
      if (a.dtype() == b.dtype()) say("~ " + what + ": " + type_text(Type(a)) + ": elements differ");
      return;
    }
    const TensorDistance distance = tensor_distance(a, b);
    say(cat("~ ", what, ": ", type_text(Type(a)), ": ", distance.n_different, " of ", distance.n_elements,
            " elements differ, by at most ", exact_text(static_cast<float>(distance.max_absolute)), ", relative ",
            exact_text(static_cast<float>(distance.max_relative))));
  }

  void compare_graph_outputs() {
    if (a_.outputs.size() != b_.outputs.size()) differ("outputs", cat(a_.outputs.size()), cat(b_.outputs.size()));
    for (size_t i = 0; i < std::min(a_.outputs.size(), b_.outputs.size()); ++i) {
      compare_operands(cat("output ", i), 0, a_.outputs[i], b_.outputs[i]);
    }
  }

  void compare_metadata() {
    std::map<std::string, std::string> left(a_.metadata.begin(), a_.metadata.end()),
        right(b_.metadata.begin(), b_.metadata.end());
    left.erase(kCertificateKey);
    right.erase(kCertificateKey);
    for (const auto& [key, text] : left) {
      const auto found = right.find(key);
      if (found == right.end()) {
        say(cat("- metadata ", dnn::quoted(key), " ", dnn::quoted(text)));
      } else if (found->second != text) {
        differ("metadata " + dnn::quoted(key), dnn::quoted(text), dnn::quoted(found->second));
      }
    }
    for (const auto& [key, text] : right) {
      if (left.count(key) == 0) say(cat("+ metadata ", dnn::quoted(key), " ", dnn::quoted(text)));
    }
  }

  const Graph &a_, &b_;
  std::string where_;  // in front of every line: the subgraph
  std::vector<std::string>& out_;
  std::map<ValueId, ValueId> pair_;  // values of a and what stands for them in b
};

}  // namespace

TensorDistance tensor_distance(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = to_doubles(a), right = to_doubles(b);
  if (left.size() != right.size()) fail_internal("tensor_distance: shapes differ");
  TensorDistance distance;
  distance.n_elements = a.size();
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i] == right[i] || (std::isnan(left[i]) && std::isnan(right[i]))) continue;
    ++distance.n_different;
    double absolute = std::abs(left[i] - right[i]);
    if (std::isnan(absolute)) absolute = std::numeric_limits<double>::infinity();
    const double larger = std::max(std::abs(left[i]), std::abs(right[i]));
    distance.max_absolute = std::max(distance.max_absolute, absolute);
    distance.max_relative = std::max(distance.max_relative, std::isfinite(absolute) ? absolute / larger : absolute);
  }
  return distance;
}

std::vector<std::string> graph_difference(const Graph& a, const Graph& b) {
  std::vector<std::string> lines;
  Comparison(a, b, "", lines).run();
  return lines;
}

}  // namespace dnn
