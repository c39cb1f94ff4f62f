// Resources over time: the usage records of each run.
#include <algorithm>
#include <cmath>

#include "report/axes.h"
#include "report/sections/sections.h"

namespace dnn::report {
namespace {

// A series of usage records: what it is called, and its value where the record has one.
struct Resource {
  std::string_view id, title, unit;
  std::optional<double> (*value)(const stream::Usage&);
};

// What the process itself spent is a part of the record, or the record.
template <class U>
const auto& process_of(const U& usage) {
  if constexpr (requires { usage.process; }) {
    return usage.process;
  } else {
    return usage;
  }
}

std::optional<double> in_mib(const std::optional<int64_t>& bytes) {
  if (!bytes) return std::nullopt;
  return static_cast<double>(*bytes) / (1 << 20);
}

constexpr Resource kResources[] = {
    {"cpu", "Processor", "%", [](const stream::Usage& u) { return process_of(u).cpu_percent; }},
    {"memory", "Memory", "MiB", [](const stream::Usage& u) { return in_mib(process_of(u).memory_bytes); }},
    {"gpu", "GPU", "%", [](const stream::Usage& u) { return u.gpu_percent; }},
    {"gpu-memory", "GPU memory", "MiB", [](const stream::Usage& u) { return in_mib(u.gpu_memory_bytes); }},
    {"energy", "Energy", "mJ", [](const stream::Usage& u) { return u.energy_mj; }},
};

Strip series_of(const Data& data, size_t run_i, const Resource& resource) {
  Strip strip{data.runs[run_i].full(), {}, {}, static_cast<int>(0)};
  const std::vector<stream::Usage>& usage = data.runs[run_i].usage;
  for (const stream::Usage& record : usage) {
    const std::optional<double> value = resource.value(record);
    if (!value || !std::isfinite(*value)) continue;
    strip.values.push_back(*value);
    // Times in a hostile stream may be any numbers: their difference is taken as doubles.
    strip.at.push_back((static_cast<double>(record.time_ns) - static_cast<double>(usage.front().time_ns)) * 1e-9);
  }
  return strip;
}

}  // namespace

Blocks section_usage(const Data& data, const Options&) {
  Blocks blocks;
  for (const Resource& resource : kResources) {
    std::vector<Strip> list;
    Table table{cat("usage-", resource.id, "-table"),
                cat(resource.title, ", ", resource.unit),
                {{"run"}, {"records", true}, {"seconds", true}, {"mean", true}, {"least", true}, {"greatest", true}},
                {}};
    for (const size_t i : runs_in_order(data)) {
      Strip strip = series_of(data, i, resource);
      if (strip.values.empty()) continue;
      double sum = 0;
      for (const double value : strip.values) sum += value;
      const auto [low, high] = std::minmax_element(strip.values.begin(), strip.values.end());
      table.rows.push_back({strip.label, cat(strip.values.size()), short_number(strip.at.back()),
                            short_number(sum / static_cast<double>(strip.values.size())), short_number(*low),
                            short_number(*high)});
      if (!std::is_sorted(strip.at.begin(), strip.at.end())) strip.at.clear();
      if (list.size() < kMostStrips) list.push_back(std::move(strip));
    }
    if (list.empty()) continue;
    blocks.push_back(Figure{cat("usage-", resource.id), cat(resource.title, " over time"),
                            "Each run has its own range, named below it; at the right, how often each value came.",
                            strips(list, resource.unit, "seconds since the run's first record")});
    if (table.rows.size() > list.size())
      blocks.push_back(Paragraph{
          cat("The figure shows the first ", list.size(), " runs, the table all ", table.rows.size(), "."), true});
    blocks.push_back(std::move(table));
  }
  return blocks;
}

}  // namespace dnn::report
