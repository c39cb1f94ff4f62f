// Bounds; see bounds.h.
#include "metrics/bounds.h"

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "metrics/present.h"

namespace dnn::metrics {
namespace {

bool holds(const Requirement& r, double value) {
  if (r.op == ">=") return value >= r.limit;
  if (r.op == "<=") return value <= r.limit;
  if (r.op == ">") return value > r.limit;
  if (r.op == "<") return value < r.limit;
  return value == r.limit;
}

class Judge {
 public:
  explicit Judge(const Report& report) : report_(report) {}

  void require(const Requirement& requirement) {
    const Row& row = *requirement.row;
    begin("require", row.key,
          cat("--require '", row.key, " ", requirement.op, " ", with_unit(requirement.limit, row), "'"));
    const auto judge = [&](const Values& values) {
      const auto it = values.find(row.key);
      if (it == values.end()) {
        say(false, "cannot be judged: not defined here (docs/reference/metrics.md says when)");
      } else {
        say(holds(requirement, it->second), cat("has ", with_unit(it->second, row)));
      }
    };
    if (row.scope == Scope::Report) {
      check_.subject = "the report";
      judge(report_.values);
    } else if (row.scope == Scope::Run) {
      if (report_.runs.empty()) say(false, "needs a run, none given");
      for (size_t i = 0; i < report_.runs.size(); ++i) {
        of_run(i);
        judge(report_.runs[i].values);
      }
    } else if (has_pairs()) {
      for (const PairReport& pair : report_.pairs) {
        of_pair(pair);
        judge(pair.values);
      }
    }
  }

  void accuracy(double least) {
    begin("min-accuracy", "top1_accuracy", "--min-accuracy");
    for (size_t i = 0; i < report_.runs.size(); ++i) {
      of_run(i);
      const Values& values = report_.runs[i].values;
      if (const auto it = values.find("top1_accuracy"); it == values.end()) {
        say(false, "cannot be judged: no sample with a truth was predicted");
      } else {
        say(it->second >= least,
            cat("has a top-1 accuracy of ", it->second, " %, the limit is ", exact_text(least), " %"));
      }
    }
  }

  void disagreement(const PairReport& pair, double most) {
    begin("max-disagreement", "top1_agreement", "--max-disagreement");
    of_pair(pair);
    if (const auto it = pair.values.find("top1_agreement"); it == pair.values.end()) {
      say(false, cat("cannot be judged: ", pair.note.empty() ? "no sample has labels in both" : pair.note));
    } else {
      const double value = 100 - it->second;
      say(value <= most, cat("differs on ", value, " % of ", counted(pair.n_common, "sample"), ", the limit is ",
                             exact_text(most), " %"));
    }
  }

  void outputs(const PairReport& pair) {
    begin("tolerance", "output_max_abs", "--atol/--rtol");
    of_pair(pair);
    if (pair.worst_sample.empty()) {
      say(false, cat("cannot be judged: ",
                     pair.n_common == 0 ? "no sample in common" : "no outputs that correspond in both streams"));
    } else {
      say(pair.worst_difference <= pair.worst_allowed,
          cat("differs by ", pair.worst_difference, " on ", dnn::quoted(pair.worst_sample), ", the limit there is ",
              pair.worst_allowed));
    }
  }

  // Says so under that rule if there are none.
  bool has_pairs(const char* kind = nullptr, const char* rule = nullptr) {
    if (kind != nullptr) begin(kind, "", rule);
    if (report_.pairs.empty()) say(false, cat("needs two runs, ", report_.runs.size(), " given"));
    return !report_.pairs.empty();
  }

  std::vector<Check> finish() { return std::move(checks_); }

 private:
  void begin(std::string kind, std::string_view key, std::string rule) {
    check_ =
        Check{.kind = std::move(kind), .key = std::string(key), .rule = std::move(rule), .subject = "", .said = ""};
  }

  void of_run(size_t run_i) {
    check_.subject = cat("run ", run_letter(run_i));
    check_.run = run_i;
  }

  void of_pair(const PairReport& pair) {
    check_.subject = cat(run_letter(pair.other), " against ", run_letter(pair.base));
    check_.run = pair.other;
    check_.base = pair.base;
  }

  void say(bool kept, std::string said) {
    check_.kept = kept;
    check_.said = std::move(said);
    checks_.push_back(check_);
  }

  const Report& report_;
  Check check_;
  std::vector<Check> checks_;
};

}  // namespace

const Row& row_of(std::string_view key, std::string_view option) {
  std::vector<std::string> keys;
  for (const Row& row : rows()) {
    if (row.key == key) return row;
    keys.emplace_back(row.key);
  }
  const std::string near = nearest_word(key, keys);
  fail_usage(option, ": no metric is called ", quoted(key), near.empty() ? "" : cat("; did you mean ", near, "?"),
             "; --list-metrics has them");
}

std::string with_unit(double value, const Row& row) {
  return row.unit.empty() ? exact_text(value) : cat(exact_text(value), " ", row.unit);
}

Requirement parse_requirement(std::string_view text) {
  const size_t at = text.find_first_of("<>=!");
  const size_t after = at == std::string_view::npos ? at : text.find_first_not_of("<>=!", at);
  static const std::vector<std::string_view> kOps = {">=", "<=", ">", "<", "=="};
  const std::string_view op = after == std::string_view::npos ? "" : text.substr(at, after - at);
  if (std::find(kOps.begin(), kOps.end(), op) == kOps.end())
    fail_usage("--require: ", quoted(text), " is not of the form 'KEY >= NUMBER' (or <=, >, <, ==)");
  const Row& row = row_of(trimmed(text.substr(0, at)), "--require");
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

std::vector<Check> judged(const Report& report, const Bounds& bounds) {
  Judge judge(report);
  if (bounds.min_accuracy) judge.accuracy(*bounds.min_accuracy);
  const bool bounds_outputs = bounds.atol || bounds.rtol;
  if (bounds.max_disagreement || bounds_outputs) {
    judge.has_pairs(bounds.max_disagreement ? "max-disagreement" : "tolerance",
                    bounds.max_disagreement ? "--max-disagreement" : "--atol/--rtol");
  }
  for (const PairReport& pair : report.pairs) {
    if (bounds.max_disagreement) judge.disagreement(pair, *bounds.max_disagreement);
    if (bounds_outputs) judge.outputs(pair);
  }
  for (const Requirement& requirement : bounds.requirements) judge.require(requirement);
  return judge.finish();
}

std::vector<std::string> missed(const Report& report, const Bounds& bounds) {
  std::vector<std::string> lines;
  for (const Check& check : judged(report, bounds)) {
    if (!check.kept) lines.push_back(check.line());
  }
  return lines;
}

}  // namespace dnn::metrics
