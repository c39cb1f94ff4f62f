// Several devices at once: each network's latency against the best single device, and when its segments ran.
#include <algorithm>
#include <cmath>

#include "report/axes.h"
#include "report/sections/sections.h"

namespace dnn::report {
namespace {

constexpr size_t kMostTimelines = 24;
constexpr double kWorthIt = 1.05;  // as dnn-branch judges
constexpr int kAtOnce = 1, kAlone = 0, kBest = 2;

std::string ms(double us) { return number_text(us / 1e3, "%.3f"); }

void add_table(const Data& data, Blocks* blocks) {
  Table table{"devices-table",
              "Latency on all devices at once and on the best single one",
              {{"network"},
               {"at once, ms", true},
               {"p95, ms", true},
               {"best single device"},
               {"its ms", true},
               {"ratio", true},
               {"bound, ms", true},
               {"worth it"}},
              {}};
  for (const Branched& network : data.branched) {
    const auto best = std::find_if(network.alone.begin(), network.alone.end(),
                                   [&](const Branched::Way& way) { return way.device == network.best; });
    table.rows.push_back({network.name, ms(network.at_once.median_us), ms(network.at_once.p95_us),
                          network.best.empty() ? "-" : network.best,
                          best == network.alone.end() ? "-" : ms(best->median_us),
                          network.ratio ? number_text(*network.ratio, "%.2f") : "-", ms(network.bound_us),
                          !network.ratio               ? "-"
                          : *network.ratio >= kWorthIt ? "yes"
                                                       : "no"});
  }
  blocks->push_back(std::move(table));
}

void add_bars(const Data& data, Blocks* blocks) {
  std::vector<std::string> rows;
  std::vector<Bar> list;
  size_t shown = 0;
  for (const Branched& network : data.branched) {
    if (rows.size() + 1 + network.alone.size() > kMostDots) break;
    ++shown;
    const auto add = [&](const Branched::Way& way, int series) {
      list.push_back({rows.size(), 0, way.median_us / 1e3, series});
      rows.push_back(cat(network.name.substr(network.name.rfind('/') + 1), " ", way.device));
    };
    add(network.at_once, kAtOnce);
    for (const Branched::Way& way : network.alone) add(way, way.device == network.best ? kBest : kAlone);
  }
  if (list.empty()) return;
  blocks->push_back(Figure{"devices-latency", "Latency by network and device",
                           "Median of the runs: on all devices at once, on each alone, and on all processors as one "
                           "device.",
                           bars(rows, list, "ms", {"one device", "all at once", "the best single device"})});
  if (shown < data.branched.size())
    blocks->push_back(Paragraph{
        cat("The figure shows the first ", shown, " networks, the table all ", data.branched.size(), "."), true});
}

void add_timeline(const Branched& network, size_t number, Blocks* blocks) {
  std::vector<std::string> rows;
  std::vector<Bar> list;
  for (const Branched::Segment& segment : network.segments) {
    const auto at = std::find(rows.begin(), rows.end(), segment.part);
    const size_t row = at - rows.begin();
    if (at == rows.end()) rows.push_back(segment.part);
    list.push_back({row, segment.begin_us / 1e3, segment.us / 1e3, segment.merges ? 1 : 0});
  }
  if (rows.size() < 2) return;
  blocks->push_back(Figure{cat("devices-timeline-", number), cat("One inference of ", network.name),
                           "When each part's segments ran; gaps are waiting.",
                           bars(rows, list, "ms since the run began", {"segments", "segments that merge"})});
}

}  // namespace

Blocks section_devices(const Data& data, const Options&) {
  Blocks blocks;
  if (data.branched.empty()) return blocks;
  add_table(data, &blocks);
  add_bars(data, &blocks);
  for (size_t i = 0; i < std::min(kMostTimelines, data.branched.size()); ++i)
    add_timeline(data.branched[i], i, &blocks);
  if (data.branched.size() > kMostTimelines)
    blocks.push_back(Paragraph{cat("Timelines of the first ", kMostTimelines, " networks are shown."), true});
  return blocks;
}

}  // namespace dnn::report
