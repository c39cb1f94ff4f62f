// Bounds; see bounds.h.
#include "metrics/bounds.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "metrics/present.h"

namespace dnn::metrics {
namespace {

constexpr std::string_view kBlank = " \t";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

const Row& row_of(std::string_view key) {
  std::vector<std::string> keys;
  for (const Row& row : rows()) {
    if (row.key == key) return row;
    keys.emplace_back(row.key);
  }
  const std::string near = nearest_word(key, keys);
  fail_usage("--require: no metric is called ", quoted(key), near.empty() ? "" : cat("; did you mean ", near, "?"),
             "; --list-metrics has them");
}

bool holds(const Requirement& r, double value) {
  if (r.op == ">=") return value >= r.limit;
  if (r.op == "<=") return value <= r.limit;
  if (r.op == ">") return value > r.limit;
  if (r.op == "<") return value < r.limit;
  return value == r.limit;
}

std::string with_unit(double value, const Row& row) {
  return row.unit.empty() ? exact_text(value) : cat(exact_text(value), " ", row.unit);
}

class Judge {
 public:
  Judge(const Requirement& requirement, std::vector<std::string>* lines) : requirement_(requirement), lines_(lines) {}

  void judge(const std::string& who, const Values& values) {
    const Row& row = *requirement_.row;
    const auto it = values.find(row.key);
    if (it == values.end()) {
      say(who + " cannot be judged: not defined here (docs/metrics.md says when)");
    } else if (!holds(requirement_, it->second)) {
      say(cat(who, " has ", with_unit(it->second, row)));
    }
  }

  void say(const std::string& what) {
    lines_->push_back(cat("--require '", requirement_.row->key, " ", requirement_.op, " ",
                          with_unit(requirement_.limit, *requirement_.row), "': ", what));
  }

 private:
  const Requirement& requirement_;
  std::vector<std::string>* lines_;
};

void judge(const Report& report, const Requirement& requirement, std::vector<std::string>* lines) {
  Judge judge(requirement, lines);
  const Scope scope = requirement.row->scope;
  if (scope == Scope::Report) {
    judge.judge("the report", report.values);
  } else if (scope == Scope::Run) {
    if (report.runs.empty()) judge.say("needs a run, none given");
    for (size_t i = 0; i < report.runs.size(); ++i) judge.judge(cat("run ", run_letter(i)), report.runs[i].values);
  } else {
    if (report.pairs.empty()) judge.say(cat("needs two runs, ", report.runs.size(), " given"));
    for (const PairReport& pair : report.pairs) {
      judge.judge(cat(run_letter(pair.other), " against ", run_letter(pair.base)), pair.values);
    }
  }
}

}  // namespace

Requirement parse_requirement(std::string_view text) {
  const size_t at = text.find_first_of("<>=!");
  const size_t after = at == std::string_view::npos ? at : text.find_first_not_of("<>=!", at);
  static const std::vector<std::string_view> kOps = {">=", "<=", ">", "<", "=="};
  const std::string_view op = after == std::string_view::npos ? "" : text.substr(at, after - at);
  if (std::find(kOps.begin(), kOps.end(), op) == kOps.end())
    fail_usage("--require: ", quoted(text), " is not of the form 'KEY >= NUMBER' (or <=, >, <, ==)");
  const Row& row = row_of(trimmed(text.substr(0, at)));
  std::string_view number = trimmed(text.substr(after));
  if (!row.unit.empty() && ends_with(number, row.unit)) {
    number = trimmed(number.substr(0, number.size() - row.unit.size()));
  }
  Requirement result{&row, std::string(op), 0};
  if (!parse_double(number, &result.limit) || std::isnan(result.limit))
    fail_usage("--require: ", quoted(number), " is not a number",
               row.unit.empty() ? cat("; ", row.key, " has no unit") : cat(" of ", row.unit));
  return result;
}

std::vector<std::string> missed(const Report& report, const Bounds& bounds) {
  std::vector<std::string> lines;
  if (bounds.min_accuracy) {
    for (size_t i = 0; i < report.runs.size(); ++i) {
      const RunReport& run = report.runs[i];
      const auto it = run.values.find("top1_accuracy");
      if (it == run.values.end()) {
        lines.push_back(
            cat("--min-accuracy: run ", run_letter(i), " cannot be judged: no sample with a truth was predicted"));
      } else if (!(it->second >= *bounds.min_accuracy)) {
        lines.push_back(cat("--min-accuracy: run ", run_letter(i), " has a top-1 accuracy of ", it->second,
                            " %, the limit is ", exact_text(*bounds.min_accuracy), " %"));
      }
    }
  }
  const bool bounds_outputs = bounds.atol || bounds.rtol;
  if (report.pairs.empty() && (bounds.max_disagreement || bounds_outputs)) {
    lines.push_back(cat(bounds.max_disagreement ? "--max-disagreement" : "--atol/--rtol", ": needs two runs, ",
                        report.runs.size(), " given"));
  }
  for (const PairReport& pair : report.pairs) {
    const std::string who = cat(run_letter(pair.other), " against ", run_letter(pair.base));
    if (bounds.max_disagreement) {
      const auto it = pair.values.find("top1_agreement");
      if (it == pair.values.end()) {
        lines.push_back(cat("--max-disagreement: ", who,
                            " cannot be judged: ", pair.note.empty() ? "no sample has labels in both" : pair.note));
      } else if (const double value = 100 - it->second; !(value <= *bounds.max_disagreement)) {
        lines.push_back(cat("--max-disagreement: ", who, " differs on ", value, " % of ", pair.n_common,
                            " samples, the limit is ", exact_text(*bounds.max_disagreement), " %"));
      }
    }
    if (bounds_outputs) {
      if (pair.worst_sample.empty()) {
        lines.push_back(cat("--atol/--rtol: ", who, " cannot be judged: ",
                            pair.n_common == 0 ? "no sample in common" : "no outputs that correspond in both streams"));
      } else if (!(pair.worst_difference <= pair.worst_allowed)) {
        lines.push_back(cat("--atol/--rtol: ", who, " differs by ", pair.worst_difference, " on ",
                            dnn::quoted(pair.worst_sample), ", the limit there is ", pair.worst_allowed));
      }
    }
  }
  for (const Requirement& requirement : bounds.requirements) judge(report, requirement, &lines);
  return lines;
}

}  // namespace dnn::metrics
