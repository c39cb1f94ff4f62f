// Divergence by layer: what dnn-localize found.
#include <algorithm>
#include <cmath>

#include "report/axes.h"
#include "report/sections/sections.h"

namespace dnn::report {
namespace {

constexpr size_t kMostRows = 60, kMostStems = 2000;
constexpr int kAgrees = 5, kPasses = 0, kMakes = 1;

void add(const Localization& found, size_t number, Blocks* blocks) {
  const std::string id = cat("divergence-", number);
  Line verdict = cat(found.target, " against ", found.source, ", ",
                     counted(static_cast<size_t>(std::max<int64_t>(0, found.n_samples)), "sample"), ": ");
  if (found.first) {
    verdict.add(cat("the first layer that diverges is ", found.first->name,
                    found.first->op.empty() ? "" : cat(" (", found.first->op, ")")),
                {}, true);
    verdict.add(cat(", relative error ", short_number(found.first->error), "; ", found.n_diverging, " of ",
                    counted(found.layers.size(), "layer"), " diverge."));
  } else {
    verdict.add(cat("none of ", counted(found.layers.size(), "layer"), " diverges."), {}, true);
  }
  blocks->push_back(Paragraph{std::move(verdict)});
  std::vector<Stem> list;
  for (size_t i = 0; i < std::min(kMostStems, found.layers.size()); ++i) {
    const Localization::Layer& layer = found.layers[i];
    list.push_back({layer.name, layer.error, layer.makes ? kMakes : layer.diverges ? kPasses : kAgrees});
  }
  if (!list.empty()) {
    blocks->push_back(Figure{
        id, cat("Divergence by layer, ", found.target),
        cat("Relative error (L2) of each layer in the order of execution, logarithmic; the row below the axis is 0, "
            "that above it no finite number.",
            list.size() < found.layers.size() ? cat(" The first ", list.size(), " of ", found.layers.size(), " layers.")
                                              : ""),
        stems(list, "layer, in order of execution", "relative error",
              {"diverges, passed on", "makes it: its inputs agree", "", "", "", "agrees"})});
  }
  std::vector<size_t> rows;
  for (size_t i = 0; i < found.layers.size(); ++i) {
    if (found.layers[i].diverges) rows.push_back(i);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](size_t a, size_t b) { return found.layers[a].added > found.layers[b].added; });
  Table table{
      id + "-layers",
      "Diverging layers, by what each adds to its inputs' error",
      {{"layer"}, {"place", true}, {"op"}, {"max abs", true}, {"relative L2", true}, {"added", true}, {"verdict"}},
      {}};
  for (size_t k = 0; k < std::min(kMostRows, rows.size()); ++k) {
    const Localization::Layer& layer = found.layers[rows[k]];
    table.rows.push_back({layer.name, cat(rows[k] + 1), layer.op, short_number(layer.max_abs),
                          short_number(layer.error), short_number(layer.added),
                          layer.makes       ? "makes it"
                          : layer.added > 0 ? "adds"
                                            : "passes on"});
  }
  if (!table.rows.empty()) blocks->push_back(std::move(table));
  Table parameters{
      id + "-parameters", "Parameters and attributes that are not the same", {{"layer"}, {"difference"}}, {}};
  for (size_t k = 0; k < std::min(kMostRows, found.parameters.size()); ++k)
    parameters.rows.push_back({found.parameters[k].layer, found.parameters[k].text});
  if (!parameters.rows.empty()) blocks->push_back(std::move(parameters));
  if (rows.size() > kMostRows || found.parameters.size() > kMostRows)
    blocks->push_back(Paragraph{
        cat("Of ", counted(rows.size(), "diverging layer"), " and ", counted(found.parameters.size(), "difference"),
            " of parameters the first ", kMostRows, " are shown; dnn-localize has all."),
        true});
}

}  // namespace

Blocks section_divergence(const Data& data, const Options&) {
  Blocks blocks;
  for (size_t i = 0; i < data.localizations.size(); ++i) add(data.localizations[i], i + 1, &blocks);
  return blocks;
}

}  // namespace dnn::report
