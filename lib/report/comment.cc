// Checks and runs as a Markdown comment; see ci.h.
#include <algorithm>

#include "base/counted.h"
#include "base/printable.h"
#include "base/text.h"
#include "metrics/present.h"
#include "metrics/table.h"
#include "report/ci.h"
#include "report/escape.h"

namespace dnn::report {
namespace {

using metrics::Change;
using metrics::Check;

constexpr size_t kMostRows = 50;     // of one table
constexpr size_t kMostText = 300;    // bytes of one cell
constexpr size_t kMostAll = 60'000;  // of a comment; GitHub takes 65,536 characters

// Text that is not ours, as code: nothing in it is Markdown or HTML, nor ends the line.
std::string code(const std::string& text) {
  std::string out;
  for (const char c : clean(text)) {
    if (out.size() >= kMostText && (static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      out += "...";
      break;
    }
    if (c == '|') {
      out += "\\|";
    } else if (c == '`') {
      out += '\'';
    } else {
      out += c;
    }
  }
  return out.empty() ? "" : "`" + out + "`";
}

using Rows = std::vector<std::vector<std::string>>;

std::string table(const std::vector<std::string>& head, const Rows& rows) {
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) { out += "| " + join(cells, " | ") + " |\n"; };
  line(head);
  line(std::vector<std::string>(head.size(), "---"));
  for (size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) line(rows[i]);
  if (rows.size() > kMostRows) out += cat("\nand ", rows.size() - kMostRows, " more\n");
  return out + "\n";
}

// "A", "B against A", with the titles of the runs.
std::string marked_subject(const metrics::Report& report, const std::string& subject, std::optional<size_t> run,
                           std::optional<size_t> base) {
  if (!run) return code(subject);
  std::string titles = code(metrics::run_title(report.runs[*run].header));
  if (base) titles += " against " + code(metrics::run_title(report.runs[*base].header));
  return subject + ": " + titles;
}

std::string check_tables(const metrics::Report& report, const std::vector<Check>& checks) {
  Rows missed, kept;
  for (const Check& check : checks) {
    if (check.kind == "against") continue;  // which have a table of their own
    (check.kept ? kept : missed)
        .push_back({code(check.rule), marked_subject(report, check.subject, check.run, check.base), code(check.said)});
  }
  const std::vector<std::string> head = {"check", "of", "what is the case"};
  std::string out;
  if (!missed.empty()) out += table(head, missed);
  if (!kept.empty()) {
    out += cat("<details><summary>", counted(kept.size(), "check"), " kept</summary>\n\n", table(head, kept),
               "</details>\n\n");
  }
  return out;
}

std::string change_table(const metrics::Report& report, const metrics::Comparison& comparison) {
  Rows changed;
  for (const metrics::Verdict verdict : {metrics::Verdict::Worse, metrics::Verdict::Gone, metrics::Verdict::Better}) {
    for (const Change& change : comparison.changes) {
      if (change.verdict != verdict) continue;
      const metrics::Row& row = *change.row;
      const std::string unit = row.unit.empty() ? "" : cat(" ", row.unit);
      changed.push_back({marked_subject(report, metrics::subject_of(change), change.run, change.base),
                         std::string(row.key), metrics::value_text(row, *change.before) + unit,
                         change.now ? metrics::value_text(row, *change.now) + unit : "-",
                         "**" + std::string(metrics::verdict_name(verdict)) + "**"});
    }
  }
  std::string out = cat("Against ", code(comparison.baseline), ": ");
  if (changed.empty()) {
    out += "nothing changed by more than is allowed.\n\n";
  } else {
    out += "\n\n" + table({"of", "metric", "before", "now", ""}, changed);
  }
  if (!comparison.gone.empty()) {
    std::vector<std::string> titles;
    for (const std::string& title : comparison.gone) titles.push_back(code(title));
    titles.resize(std::min(titles.size(), kMostRows));
    out += cat("In the baseline alone: ", join(titles), "\n\n");
  }
  for (const std::string& note : comparison.notes) out += "Of the baseline: " + note + "\n\n";
  return out;
}

std::string run_table(const metrics::Report& report) {
  static const char* const kKeys[] = {"top1_accuracy", "top5_accuracy", "latency_median", "throughput"};
  std::vector<std::string> head = {"run", "what", "samples"};
  std::vector<const metrics::Row*> rows;
  for (const metrics::Row& row : metrics::rows()) {
    const bool chosen = std::find(std::begin(kKeys), std::end(kKeys), row.key) != std::end(kKeys);
    const bool stated = std::any_of(report.runs.begin(), report.runs.end(),
                                    [&](const metrics::RunReport& run) { return run.values.contains(row.key); });
    if (!chosen || !stated) continue;
    rows.push_back(&row);
    head.emplace_back(row.title);
  }
  const bool agreement = std::any_of(report.pairs.begin(), report.pairs.end(), [&](const metrics::PairReport& pair) {
    return pair.base == report.baseline && pair.values.contains("top1_agreement");
  });
  if (agreement) head.emplace_back(cat("top-1 as ", metrics::run_letter(report.baseline), " %"));
  Rows cells;
  for (size_t i = 0; i < report.runs.size(); ++i) {
    const metrics::RunReport& run = report.runs[i];
    std::vector<std::string> line = {metrics::run_letter(i), code(metrics::run_title(run.header)),
                                     cat(run.n_predictions)};
    for (const metrics::Row* row : rows) line.push_back(metrics::value_text(*row, run.values));
    if (agreement) {
      const auto pair = std::find_if(report.pairs.begin(), report.pairs.end(), [&](const metrics::PairReport& p) {
        return p.base == report.baseline && p.other == i && p.values.contains("top1_agreement");
      });
      line.push_back(pair == report.pairs.end() ? ""
                                                : number_text(pair->values.find("top1_agreement")->second, "%.2f"));
    }
    cells.push_back(std::move(line));
  }
  std::string out = cells.empty() ? "" : table(head, cells);
  for (const std::string& note : metrics::shard_notes(report)) out += code(note) + "\n\n";
  return out;
}

}  // namespace

std::string comment_markdown(const metrics::Report& report, const std::vector<Check>& checks,
                             const metrics::Comparison* comparison) {
  const auto n_missed = std::count_if(checks.begin(), checks.end(), [](const Check& check) { return !check.kept; });
  std::string out = "### dnn-eval: ";
  if (checks.empty()) {
    out += counted(report.runs.size(), "run");
  } else if (n_missed == 0) {
    out += cat(checks.size() == 1 ? "" : "all ", counted(checks.size(), "check"), " kept");
  } else {
    out += cat(n_missed, " of ", counted(checks.size(), "check"), " missed");
  }
  out += "\n\n";
  std::vector<std::string> parts;
  parts.push_back(check_tables(report, checks));
  if (comparison != nullptr) parts.push_back(change_table(report, *comparison));
  parts.push_back(run_table(report));
  for (const std::string& part : parts) {
    if (out.size() + part.size() > kMostAll) return out + "The rest is too long for a comment.\n";
    out += part;
  }
  return out;
}

}  // namespace dnn::report
