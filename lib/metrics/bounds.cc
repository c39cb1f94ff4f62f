// Bounds; see bounds.h.
#include "metrics/bounds.h"

#include "metrics/present.h"

namespace dnn::metrics {

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
    return lines;
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
  return lines;
}

}  // namespace dnn::metrics
