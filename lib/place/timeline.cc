// Timelines of runs on several devices; see timeline.h.
#include "place/timeline.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "place/measure.h"

namespace dnn::place {
namespace {

using Json = nlohmann::ordered_json;

double median(std::vector<double> values) { return values.empty() ? 0 : latency_of(std::move(values)).median; }

double microseconds(int64_t ns) { return static_cast<double>(ns) / 1e3; }

int64_t end_of(const RunReport& report) {
  int64_t end = 0;
  for (const SegmentReport& s : report.segments) end = std::max(end, s.last.end_ns);
  return end;
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

// The parts in the order in which they come.
std::vector<std::string> parts_of(const RunReport& report) {
  std::vector<std::string> parts;
  for (const SegmentReport& s : report.segments) {
    if (std::find(parts.begin(), parts.end(), s.part) == parts.end()) parts.push_back(s.part);
  }
  return parts;
}

// A line for each part, '#' where it works, '+' where it merges, '.' where it is idle.
std::string picture(const RunReport& report, const std::vector<std::string>& parts, size_t width) {
  constexpr size_t kColumns = 72;
  const auto whole = static_cast<double>(std::max<int64_t>(1, end_of(report)));
  std::string text = cat("one run of ", formatted("%.2f", whole / 1e6), " ms:\n");
  for (const std::string& part : parts) {
    std::string line(kColumns, '.');
    for (const SegmentReport& s : report.segments) {
      if (s.part != part) continue;
      const auto column = [&](int64_t ns) {
        return std::min(kColumns - 1, static_cast<size_t>(static_cast<double>(ns) / whole * kColumns));
      };
      for (size_t c = column(s.last.begin_ns); c <= column(std::max(s.last.begin_ns, s.last.end_ns - 1)); ++c)
        line[c] = s.merges ? '+' : '#';
    }
    text += cat(padded(part, width), "  |", line, "|\n");
  }
  return text;
}

}  // namespace

std::string formatted(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

RunReport report_runs(const ParallelSession& session, const std::vector<std::vector<SegmentTime>>& runs) {
  const Plan& plan = session.plan();
  std::vector<std::vector<double>> us(plan.segments.size()), wait_us(plan.segments.size());
  std::vector<double> handoffs, latencies;
  for (const std::vector<SegmentTime>& times : runs) {
    std::map<size_t, int64_t> free_ns;  // by part: when it became free
    double handoff = 0;
    int64_t begin = INT64_MAX, end = 0;
    for (size_t s = 0; s < times.size(); ++s) {
      int64_t& free = free_ns[plan.segments[s].part];
      wait_us[s].push_back(microseconds(times[s].begin_ns - std::max(times[s].ready_ns, free)));
      us[s].push_back(microseconds(times[s].end_ns - times[s].begin_ns));
      handoff += wait_us[s].back();
      free = times[s].end_ns;
      begin = std::min(begin, times[s].begin_ns);
      end = std::max(end, times[s].end_ns);
    }
    handoffs.push_back(handoff);
    latencies.push_back(microseconds(end - begin));
  }
  RunReport report;
  for (size_t s = 0; s < plan.segments.size(); ++s) {
    const Segment& segment = plan.segments[s];
    report.segments.push_back({segment.name, session.parts()[segment.part].label(), segment.merges, median(us[s]),
                               median(wait_us[s]), session.times()[s]});
    if (segment.merges) report.merge_us += report.segments.back().us;
  }
  report.merges = plan.merges();
  report.copies = plan.copies;
  report.copied_bytes = plan.copied_bytes;
  report.handoff_us = median(handoffs);
  report.latency_us = median(latencies);
  return report;
}

std::string timeline_json(const std::vector<Timeline>& timelines) {
  Json events = Json::array();
  for (size_t i = 0; i < timelines.size(); ++i) {
    events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", i + 1}, {"args", {{"name", timelines[i].name}}}});
    std::map<std::string, size_t> threads;
    for (const SegmentReport& s : timelines[i].segments) {
      const auto [thread, is_new] = threads.emplace(s.part, threads.size() + 1);
      if (is_new)
        events.push_back({{"name", "thread_name"},
                          {"ph", "M"},
                          {"pid", i + 1},
                          {"tid", thread->second},
                          {"args", {{"name", s.part}}}});
      events.push_back({{"name", s.name},
                        {"cat", s.merges ? "merge" : "segment"},
                        {"ph", "X"},
                        {"pid", i + 1},
                        {"tid", thread->second},
                        {"ts", microseconds(s.last.begin_ns)},
                        {"dur", microseconds(s.last.end_ns - s.last.begin_ns)}});
    }
  }
  const Json trace = {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
  return json_text(trace) + "\n";
}

std::string profile_text(const RunReport& report) {
  const std::vector<std::string> parts = parts_of(report);
  size_t width = 4;
  for (const std::string& part : parts) width = std::max(width, part.size());
  const double whole = std::max(report.latency_us, 1e-3);
  std::string text = cat(padded("part", width), "      us/run       %   wait us  segment\n");
  std::map<std::string, double> busy;
  for (const SegmentReport& s : report.segments) {
    busy[s.part] += s.us;
    text += cat(padded(s.part, width), formatted("  %10.1f", s.us), formatted(" %7.1f", 100 * s.us / whole),
                formatted(" %9.1f", s.wait_us), "  ", clean(s.name), s.merges ? "  (merges)" : "", "\n");
  }
  for (const std::string& part : parts)
    text += cat(padded(part, width), formatted("  %10.1f", busy[part]), formatted(" %7.1f", 100 * busy[part] / whole),
                " busy; idle ", formatted("%.1f", std::max(0.0, whole - busy[part])), " us\n");
  text += cat(report.copies, report.copies == 1 ? " copy of " : " copies of ",
              formatted("%.1f", static_cast<double>(report.copied_bytes) / 1024), " KiB in all; handing over ",
              formatted("%.1f", report.handoff_us), " us; ", counted(report.merges, "merge"), ", ",
              formatted("%.1f", report.merge_us), " us\n");
  return text + picture(report, parts, width);
}

}  // namespace dnn::place
