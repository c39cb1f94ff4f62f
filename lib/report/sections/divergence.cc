// Divergence by layer: what dnn-localize found.
#include <algorithm>
#include <cmath>

#include "report/axes.h"
#include "report/sections/sections.h"

namespace dnn::report {
namespace {

constexpr size_t kMostDivergenceRows = 60, kMostStems = 2000;
constexpr size_t kMostHeatRows = 60, kMostHeatColumns = 100;
constexpr double kLeastError = 1e-12;  // what is less counts as this
constexpr int kAgrees = 5, kPasses = 0, kMakes = 1;

// At most `most` of 0..n-1, evenly spread.
std::vector<size_t> spread(size_t n, size_t most) {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < std::min(n, most); ++i) chosen.push_back(i * n / std::min(n, most));
  return chosen;
}

// Layers that diverge, and of too many those that add most, in the order of execution.
std::vector<size_t> heat_rows(const Localization& found) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < found.layers.size(); ++i) {
    if (found.layers[i].diverges) rows.push_back(i);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) {
    const auto key = [&](size_t i) { return std::isnan(found.layers[i].added) ? 0 : found.layers[i].added; };
    return key(a) > key(b);
  });
  rows.resize(std::min(rows.size(), kMostHeatRows));
  std::sort(rows.begin(), rows.end());
  return rows;
}

// Each layer's error in each sample alone: whether a divergence is of all inputs or of some.
void add_samples(const Localization& found, const std::string& id, Blocks* blocks) {
  const std::vector<size_t> rows = heat_rows(found), columns = spread(found.samples.size(), kMostHeatColumns);
  if (rows.empty() || columns.size() < 2 || found.sample_errors.empty()) return;
  Heat heat;
  double largest = kLeastError;
  bool infinite = false;
  for (const size_t row : rows) {
    for (const size_t column : columns) {
      const std::optional<double>& error = found.sample_errors[row][column];
      infinite = infinite || (error && std::isinf(*error));
      if (error && std::isfinite(*error)) largest = std::max(largest, *error);
    }
  }
  for (const size_t row : rows) {
    heat.rows.push_back(found.layers[row].name);
    for (const size_t column : columns) {
      std::optional<double> error = found.sample_errors[row][column];
      if (error == 0.0) error.reset();
      if (error) error = std::log10(std::clamp(*error, kLeastError, largest));
      heat.cells.push_back(error);
    }
  }
  bool relabelled = false;
  for (const size_t column : columns) {
    const Localization::Sample& sample = found.samples[column];
    heat.columns.push_back(sample.name.substr(sample.name.rfind('/') + 1) + (sample.relabelled ? " *" : ""));
    relabelled = relabelled || (sample.relabelled && columns.size() <= kMostHeatNames);
  }
  heat.row_groups = heat.rows;
  heat.format = "%.1f";
  heat.row_title = "layer, in order of execution";
  heat.column_title = "relative error in each sample, power of ten";
  blocks->push_back(
      Figure{id + "-samples", cat("Divergence by layer and sample, ", found.target),
             cat("Relative error (L2) of each diverging layer in each sample alone, as its decimal logarithm; the "
                 "darker, the larger. Empty cells: no error, or not lined up.",
                 infinite ? " What is infinite counts as the largest." : "",
                 relabelled ? " *: another label in the target." : ""),
             heat_map(heat)});
  const size_t n_samples = found.samples.size() + static_cast<size_t>(found.n_samples_left_out);
  const size_t n_diverging =
      std::count_if(found.layers.begin(), found.layers.end(), [](const Localization::Layer& l) { return l.diverges; });
  if (rows.size() < n_diverging || columns.size() < n_samples)
    blocks->push_back(Paragraph{
        cat("By sample, of ", counted(n_diverging, "diverging layer"),
            rows.size() < n_diverging ? cat(" the ", rows.size(), " that add most") : " all", " and of ",
            counted(n_samples, "sample"),
            columns.size() < n_samples ? cat(" ", columns.size(), ", evenly spread,") : " all", " are shown."),
        true});
}

// "3 of 64": which of the layer's channels are shown.
std::string chosen_text(const Localization::Maps& maps) {
  const auto n = static_cast<int64_t>(maps.channels.size());
  if (maps.n_channels <= 1) return "its one channel";
  return n < maps.n_channels ? cat("the ", n, " of ", maps.n_channels, " channels that differ most")
                             : cat("all ", n, " channels");
}

// What both networks compute in a layer, side by side.
void add_maps(const Localization& found, const std::string& id, Blocks* blocks) {
  size_t n = 0;
  for (const Localization::Maps& maps : found.maps) {
    std::vector<MapRow> rows;
    std::vector<std::string> largest;
    for (const Localization::Channel& c : maps.channels) {
      rows.push_back({cat("channel ", c.channel), maps.columns, c.source, c.target, c.difference});
      largest.push_back(cat(short_number(c.max_abs), " in channel ", c.channel));
    }
    const bool smaller =
        static_cast<int64_t>(maps.rows) < maps.height || static_cast<int64_t>(maps.columns) < maps.width;
    std::string text =
        cat(maps.sample.empty() ? "" : cat("On ", maps.sample, ". "),
            maps.isolated ? cat("A finding", maps.what.empty() ? "" : cat(" (", maps.what, ")"),
                                ": the target's is computed from the source's activations in front of it. ")
                          : "The first layer that diverges, each network on its own activations. ",
            "In each row what the source and what the target computes, on one scale from light to dark, and their "
            "difference: orange where the source has more, blue where it has less. Largest difference: ",
            join(largest), ".",
            smaller ? cat(" Of ", maps.height, " x ", maps.width,
                          " values, each shown is the one of largest magnitude in its block.")
                    : "");
    blocks->push_back(Figure{cat(id, "-maps-", ++n), cat("Activations of ", maps.layer, ", ", chosen_text(maps)),
                             std::move(text), activation_maps(rows)});
  }
}

void add(const Localization& found, size_t number, Blocks* blocks) {
  const std::string id = cat("divergence-", number);
  Line verdict = cat(found.target, " against ", found.source, ", ",
                     counted(std::max<int64_t>(0, found.n_samples), "sample"), ": ");
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
  add_samples(found, id, blocks);
  add_maps(found, id, blocks);
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
  for (size_t k = 0; k < std::min(kMostDivergenceRows, rows.size()); ++k) {
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
  for (size_t k = 0; k < std::min(kMostDivergenceRows, found.parameters.size()); ++k)
    parameters.rows.push_back({found.parameters[k].layer, found.parameters[k].text});
  if (!parameters.rows.empty()) blocks->push_back(std::move(parameters));
  if (rows.size() > kMostDivergenceRows || found.parameters.size() > kMostDivergenceRows)
    blocks->push_back(Paragraph{
        cat("Of ", counted(rows.size(), "diverging layer"), " and ", counted(found.parameters.size(), "difference"),
            " of parameters the first ", kMostDivergenceRows, " are shown; dnn-localize has all."),
        true});
}

}  // namespace

Blocks section_divergence(const Data& data, const Options&) {
  Blocks blocks;
  for (size_t i = 0; i < data.localizations.size(); ++i) add(data.localizations[i], i + 1, &blocks);
  return blocks;
}

}  // namespace dnn::report
