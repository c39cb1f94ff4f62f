// Einsum's equation as text.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "ops/attributes.h"
#include "ops/op.h"

namespace dnn {

// The equation without spaces and with its result stated behind "->", which it may leave out (numpy's implicit form).
std::string explicit_equation(std::string equation);

// An Einsum's equation with every axis as a label: letters, and the ellipsis's axes counted from its last one (-1, -2, ...).
struct EinsumEquation {
  std::vector<std::vector<int>> operands;
  std::vector<int> output, summed;

  EinsumEquation(const Node& node, const std::vector<int64_t>& ranks) : node_(node) {
    std::string text = string_attribute(node, "equation");
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    const size_t arrow = text.find("->");
    const std::vector<std::string> terms = split(text.substr(0, arrow), ',');
    if (terms.size() != ranks.size()) fail("it has ", terms.size(), " terms for ", ranks.size(), " inputs");
    for (size_t i = 0; i < terms.size(); ++i) operands.push_back(term_labels(terms[i], ranks[i]));
    if (arrow == std::string::npos) {
      imply_output();
    } else {
      output = labels(text.substr(arrow + 2), ellipsis_rank_);
      check_output();
    }
    for (const std::vector<int>& operand : operands) {
      for (int label : operand) {
        if (!contains(output, label) && !contains(summed, label)) summed.push_back(label);
      }
    }
  }

  static bool contains(const std::vector<int>& list, int label) {
    return std::find(list.begin(), list.end(), label) != list.end();
  }

  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    fail_malformed(node_.label(), ": equation ", quoted(string_attribute(node_, "equation")), ": ", parts...);
  }

 private:
  std::vector<int> labels(const std::string& term, int64_t ellipsis_rank) const {
    std::vector<int> result;
    for (size_t i = 0; i < term.size(); ++i) {
      const char c = term[i];
      if (c == '.') {
        if (term.substr(i, 3) != "...") fail("a dot outside an ellipsis");
        if (term.find('.', i + 3) != std::string::npos) fail("two ellipses in one term");
        for (int64_t k = ellipsis_rank; k > 0; --k) result.push_back(static_cast<int>(-k));
        i += 2;
      } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        result.push_back(c);
      } else {
        fail("character ", quoted(std::string(1, c)));
      }
    }
    return result;
  }

  std::vector<int> term_labels(const std::string& term, int64_t rank) {
    const bool ellipsis = term.find('.') != std::string::npos;
    const auto letters = static_cast<int64_t>(term.size()) - (ellipsis ? 3 : 0);
    if (ellipsis ? letters > rank : letters != rank) fail("term ", quoted(term), " does not fit rank ", rank);
    if (ellipsis) ellipsis_rank_ = std::max(ellipsis_rank_, rank - letters);
    return labels(term, rank - letters);
  }

  // Ellipsis first, then the letters that appear once, in ASCII order.
  void imply_output() {
    std::map<int, int> count;
    for (const std::vector<int>& operand : operands) {
      for (int label : operand) ++count[label];
    }
    for (const auto& [label, n] : count) {
      if (label < 0 || n == 1) output.push_back(label);
    }
  }

  void check_output() const {
    for (size_t i = 0; i < output.size(); ++i) {
      if (std::count(output.begin(), output.end(), output[i]) > 1) fail("an output letter appears twice");
      const bool known = std::any_of(operands.begin(), operands.end(),
                                     [&](const auto& operand) { return contains(operand, output[i]); });
      if (!known) fail("an output letter is in no term");
    }
  }

  const Node& node_;
  int64_t ellipsis_rank_ = 0;
};

}  // namespace dnn
