// Resources over time: the usage records of each run.
#include <algorithm>
#include <cmath>

#include "report/axes.h"
#include "report/sections/sections.h"

namespace dnn::report {
namespace {

using Value = std::optional<double>;

// A series of usage records: what it is called, and its value of a record or, where it is a rate, of two. A rate is the growth in a
// second of what `value` says, divided by 1000.
enum class Of : uint8_t { Process, Machine, Rate };
struct Resource {
  std::string_view id, title, text, unit;
  Value (*value)(const stream::Usage&);
  Of of = Of::Machine;
};

// The process that runs the network: a framework's, or the tool's own.
const stream::ProcessUsage& runner(const stream::Usage& usage) {
  return usage.network ? *usage.network : usage.process;
}

Value in_mib(const std::optional<int64_t>& bytes) {
  if (!bytes) return std::nullopt;
  return static_cast<double>(*bytes) / (1 << 20);
}

Value mean_of_cores(const stream::Usage& usage) {
  double sum = 0;
  size_t n = 0;
  for (const Value& core : usage.cores_percent) {
    if (!core) continue;
    sum += *core;
    ++n;
  }
  return n == 0 ? std::nullopt : Value(sum / static_cast<double>(n));
}

constexpr Resource kResources[] = {
    {"cpu", "Processor", "Processor time of the process that runs the network; 100 is one processor.", "%",
     [](const stream::Usage& u) { return runner(u).cpu_percent; }, Of::Process},
    {"cores", "Machine", "How busy all processors of the machine are, mean.", "%", mean_of_cores},
    {"memory", "Memory", "Resident memory of the process that runs the network.", "MiB",
     [](const stream::Usage& u) { return in_mib(runner(u).memory_bytes); }, Of::Process},
    {"frequency", "Frequency", "Mean frequency of the processors.", "MHz",
     [](const stream::Usage& u) { return u.frequency_mhz; }},
    {"power", "Power", "Power of the machine's processors, from their energy.", "W",
     [](const stream::Usage& u) { return u.energy_mj; }, Of::Rate},
    {"gpu", "GPU", "How busy the machine's GPUs are, added up; 100 is one GPU.", "%",
     [](const stream::Usage& u) { return u.gpu_percent; }},
    {"gpu-memory", "GPU memory", "Memory in use on the machine's GPUs.", "MiB",
     [](const stream::Usage& u) { return in_mib(u.gpu_memory_bytes); }},
    {"gpu-power", "GPU power", "Power of the machine's GPUs, from their energy.", "W",
     [](const stream::Usage& u) { return u.gpu_energy_mj; }, Of::Rate},
};

Strip series_of(const Data& data, size_t run_i, const Resource& resource) {
  Strip strip{data.runs[run_i].full(), {}, {}, 0};
  const std::vector<stream::Usage>& usage = data.evaluation.runs[run_i].usage;
  // Before a framework's process is there, the tool's own says nothing of it.
  const bool apart = std::any_of(usage.begin(), usage.end(), [](const auto& u) { return u.network.has_value(); });
  std::optional<std::pair<double, double>> before;  // seconds, value
  for (const stream::Usage& record : usage) {
    if (resource.of == Of::Process && apart && !record.network) continue;
    const Value value = resource.value(record);
    if (!value || !std::isfinite(*value)) continue;
    // Times of a hostile stream may be any numbers: their difference is taken as doubles.
    const double at = (static_cast<double>(record.time_ns) - static_cast<double>(usage.front().time_ns)) * 1e-9;
    if (resource.of != Of::Rate) {
      strip.values.push_back(*value);
      strip.at.push_back(at);
    } else if (before && at > before->first && *value >= before->second) {
      strip.values.push_back((*value - before->second) / (at - before->first) / 1000);
      strip.at.push_back(at);
    }
    before = {at, *value};
  }
  return strip;
}

// What the records say of a run as a whole.
void add_metrics(const Data& data, Blocks* blocks) {
  std::vector<const metrics::Values*> values;
  for (const metrics::RunReport& run : data.evaluation.runs) values.push_back(&run.values);
  const std::vector<std::string> keys = shown_keys(metrics::Scope::Run, is_resource, values);
  if (keys.empty()) return;
  Table table{"usage-table", "Resources of each run", {{"run"}}, {}};
  for (const std::string& key : keys) table.columns.push_back(column_of(key));
  for (const size_t i : runs_in_order(data)) {
    std::vector<Cell> row = {data.runs[i].full()};
    for (const std::string& key : keys) row.emplace_back(value_text(*values[i], key));
    table.rows.push_back(std::move(row));
  }
  blocks->push_back(std::move(table));
}

}  // namespace

Blocks section_usage(const Data& data, const Options&) {
  Blocks blocks;
  add_metrics(data, &blocks);
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
    blocks.push_back(Figure{
        cat("usage-", resource.id), cat(resource.title, " over time"),
        cat(resource.text, " Each run has its own range, named below it; at the right, how often each value came."),
        strips(list, resource.unit, "seconds since the run's first record")});
    if (table.rows.size() > list.size())
      blocks.push_back(Paragraph{
          cat("The figure shows the first ", list.size(), " runs, the table all ", table.rows.size(), "."), true});
    blocks.push_back(std::move(table));
  }
  return blocks;
}

}  // namespace dnn::report
