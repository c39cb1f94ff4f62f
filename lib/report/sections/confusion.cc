// Confusion: which classes are taken for which. Runs that confuse alike are shown once.
#include <algorithm>

#include "report/sections/sections.h"

namespace dnn::report {
namespace {

constexpr size_t kMostClasses = 24, kMostConfusionRows = 60, kMostMatrices = 8;

struct Alike {
  std::vector<uint32_t> runs;
  const metrics::Confusion* confusion;
};

std::vector<Alike> alike_runs(const Data& data) {
  std::vector<Alike> list;
  for (size_t i = 0; i < data.runs.size(); ++i) {
    const metrics::Confusion& confusion = data.evaluation.runs[i].confusion;
    if (confusion.cells().empty()) continue;
    auto same = std::find_if(list.begin(), list.end(), [&](const Alike& alike) {
      return alike.confusion->cells() == confusion.cells() && data.runs[alike.runs[0]].classes == data.runs[i].classes;
    });
    if (same == list.end()) same = list.insert(list.end(), Alike{{}, &confusion});
    same->runs.push_back(static_cast<uint32_t>(i));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Alike& a, const Alike& b) { return a.runs.size() > b.runs.size(); });
  return list;
}

std::string share(const std::optional<double>& value) { return value ? number_text(*value, "%.3f") : "-"; }

class Matrix {
 public:
  Matrix(const Data& data, const Alike& alike, size_t number)
      : data_(data), alike_(alike), id_(cat("confusion-", number)), names_(data.runs[alike.runs[0]].classes) {
    classes_ = alike.confusion->classes();
    for (const auto& [cell, count] : alike.confusion->cells()) {
      n_judged_ += count;
      if (cell.first == cell.second) n_right_ += count;
    }
    // Most errors first; of equal ones the more frequent.
    std::stable_sort(classes_.begin(), classes_.end(), [](const auto& a, const auto& b) {
      const auto errors = [](const auto& c) { return c.n_true + c.n_predicted - 2 * c.n_both; };
      return errors(a) != errors(b) ? errors(a) > errors(b) : a.n_true > b.n_true;
    });
  }

  std::string title() const {
    return cat(alike_.runs.size() == 1 ? "Run " : "Runs ", letters(data_, alike_.runs), ": ", n_right_, " of ",
               n_judged_, " right, ", alike_.confusion->cells().size(), " cells in use");
  }

  Blocks blocks() const {
    Blocks blocks = {figure(), class_table()};
    if (Table errors = error_table(); !errors.rows.empty()) blocks.push_back(std::move(errors));
    std::vector<std::string> cut;
    if (classes_.size() > kMostClasses)
      cut.push_back(cat("the figure shows the ", kMostClasses, " classes with the most errors"));
    if (classes_.size() > kMostConfusionRows) cut.push_back(cat("the table of classes the first ", kMostConfusionRows));
    if (n_errors_ > kMostConfusionRows)
      cut.push_back(cat("that of confusions the first ", kMostConfusionRows, " of ", n_errors_));
    if (!cut.empty())
      blocks.push_back(Paragraph{
          cat("Of ", classes_.size(), " classes ", join(cut, ", "), "; dnn-eval --confusion has all."), true});
    return blocks;
  }

 private:
  std::string name(int64_t label) const { return data_.class_name(names_, label); }

  Figure figure() const {
    std::vector<int64_t> labels;
    for (size_t i = 0; i < std::min(kMostClasses, classes_.size()); ++i) labels.push_back(classes_[i].label);
    std::sort(labels.begin(), labels.end());
    Heat heat;
    for (const int64_t label : labels) {
      heat.rows.push_back(name(label));
      heat.columns.push_back(name(label).substr(0, name(label).find(',')));  // the first of its names
    }
    for (const int64_t truth : labels) {
      for (const int64_t predicted : labels) {
        const auto cell = alike_.confusion->cells().find({truth, predicted});
        heat.cells.push_back(
            cell == alike_.confusion->cells().end() ? std::nullopt : std::optional(static_cast<double>(cell->second)));
      }
    }
    heat.row_title = "truth";
    heat.column_title = "predicted";
    heat.unit = "samples";
    return {id_, cat("Confusion matrix, ", alike_.runs.size() == 1 ? "run " : "runs ", letters(data_, alike_.runs)),
            "Samples of each true class (rows) by the class that was predicted (columns); empty cells are 0.",
            heat_map(heat)};
  }

  Table class_table() const {
    Table table{id_ + "-classes",
                "Classes, those with the most errors first",
                {{"class"},
                 {"true", true},
                 {"predicted", true},
                 {"both", true},
                 {"precision", true},
                 {"sensitivity", true},
                 {"F1", true}},
                {}};
    for (size_t i = 0; i < std::min(kMostConfusionRows, classes_.size()); ++i) {
      const metrics::ClassCounts& c = classes_[i];
      table.rows.push_back({name(c.label), cat(c.n_true), cat(c.n_predicted), cat(c.n_both), share(c.precision()),
                            share(c.sensitivity()), share(c.f1())});
    }
    return table;
  }

  Table error_table() const {
    std::vector<std::pair<std::pair<int64_t, int64_t>, int64_t>> errors;
    for (const auto& [cell, count] : alike_.confusion->cells()) {
      if (cell.first != cell.second) errors.emplace_back(cell, count);
    }
    n_errors_ = errors.size();
    std::stable_sort(errors.begin(), errors.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    Table table{
        id_ + "-errors", "Confusions, the most frequent first", {{"truth"}, {"predicted"}, {"samples", true}}, {}};
    for (size_t i = 0; i < std::min(kMostConfusionRows, errors.size()); ++i)
      table.rows.push_back({name(errors[i].first.first), name(errors[i].first.second), cat(errors[i].second)});
    return table;
  }

  const Data& data_;
  const Alike& alike_;
  std::string id_, names_;
  std::vector<metrics::ClassCounts> classes_;
  int64_t n_judged_ = 0, n_right_ = 0;
  mutable size_t n_errors_ = 0;
};

}  // namespace

Blocks section_confusion(const Data& data, const Options&) {
  Blocks blocks;
  const std::vector<Alike> list = alike_runs(data);
  for (size_t i = 0; i < std::min(kMostMatrices, list.size()); ++i) {
    const Matrix matrix(data, list[i], i + 1);
    if (i > 0) {
      blocks.push_back(Fold{"", matrix.title(), matrix.blocks()});
      continue;
    }
    blocks.push_back(Paragraph{matrix.title() + "."});
    Blocks first = matrix.blocks();
    std::move(first.begin(), first.end(), std::back_inserter(blocks));
  }
  if (list.size() > kMostMatrices) {
    std::vector<uint32_t> rest;
    for (size_t i = kMostMatrices; i < list.size(); ++i)
      rest.insert(rest.end(), list[i].runs.begin(), list[i].runs.end());
    std::sort(rest.begin(), rest.end());
    blocks.push_back(Paragraph{cat("Not shown: the ", list.size() - kMostMatrices, " other matrices, of runs ",
                                   letters(data, rest), "; dnn-eval --confusion has them."),
                               true});
  }
  return blocks;
}

}  // namespace dnn::report
