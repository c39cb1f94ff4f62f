// What an evaluation says: an object of JSON, a line for the person, a timeline.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/json_text.h"
#include "branch/evaluate.h"

namespace dnn::branch {
namespace {

using Json = nlohmann::ordered_json;

// A cache line takes so many times as long between processors without a cache in common.
constexpr double kApart = 2;

double tenths(double value) { return std::round(value * 10) / 10; }
double thousandths(double value) { return std::round(value * 1000) / 1000; }

Json json_of(const Latency& latency) {
  return {{"median_us", tenths(latency.median)},
          {"min_us", tenths(latency.min)},
          {"p95_us", tenths(latency.p95)},
          {"mean_us", tenths(latency.mean)}};
}

Json json_of(const Baseline& baseline) {
  Json json = {{"device", baseline.name}};
  json.update(json_of(baseline.latency));
  json["same_bits"] = baseline.same_bits;
  return json;
}

std::string ms(double us) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", us / 1e3);
  return text;
}

std::string two_decimals(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

// Says where the processors were moved apart meanwhile: medians then are of two kinds of runs.
std::string moved_text(const std::vector<double>& line_ns) {
  if (line_ns.empty()) return {};
  const auto [least, most] = std::minmax_element(line_ns.begin(), line_ns.end());
  if (*most < kApart * *least) return {};
  const auto far =
      std::count_if(line_ns.begin(), line_ns.end(), [least = *least](double ns) { return ns >= kApart * least; });
  return cat("; the processors had no cache in common in ", far, " of ", counted(line_ns.size(), "turn"),
             ", and both at once are slower then");
}

}  // namespace

std::string result_json(const EvaluateResult& r) {
  Json json = {
      {"cfg", r.cfg}, {"image_size", r.image_size}, {"params", r.params}, {"flops", r.flops}, {"branched", r.branched}};
  json["latency"] = json_of(r.latency);
  json["accuracy"] = r.accuracy ? Json({{"images", r.accuracy->images},
                                        {"top1_percent", thousandths(r.accuracy->percent(r.accuracy->top1))},
                                        {"top5_percent", thousandths(r.accuracy->percent(r.accuracy->top5))}})
                                : Json();
  json["energy_uj"] = r.energy_uj ? Json(tenths(*r.energy_uj)) : Json();
  json["energy_contains"] = r.energy_contains;
  std::map<std::string, double> busy;
  json["segments"] = Json::array();
  for (const place::SegmentReport& s : r.runs.segments) {
    busy[s.part] += s.us;
    json["segments"].push_back({{"nodes", s.name},
                                {"part", s.part},
                                {"median_us", tenths(s.us)},
                                {"wait_us", tenths(s.wait_us)},
                                {"merges", s.merges},
                                {"last_begin_us", tenths(static_cast<double>(s.last.begin_ns) / 1e3)},
                                {"last_us", tenths(static_cast<double>(s.last.end_ns - s.last.begin_ns) / 1e3)}});
  }
  json["parts"] = Json::array();
  for (const auto& [part, us] : busy)
    json["parts"].push_back(
        {{"part", part}, {"busy_us", tenths(us)}, {"idle_us", tenths(std::max(0.0, r.latency.median - us))}});
  json["merges"] = {{"count", r.runs.merges},
                    {"us", tenths(r.runs.merge_us)},
                    {"handoff_us", tenths(r.runs.handoff_us)},
                    {"copies", r.runs.copies},
                    {"copied_bytes", r.runs.copied_bytes}};
  json["alone"] = Json::array();
  for (const Baseline& baseline : r.alone) json["alone"].push_back(json_of(baseline));
  json["together"] = r.together ? json_of(*r.together) : Json();
  json["line_round_trip_ns"] = Json::array();  // by turn
  for (const double ns : r.line_ns) json["line_round_trip_ns"].push_back(std::round(ns));
  json["best_single"] = {{"device", r.best}, {"median_us", tenths(r.best_us)}};
  json["ratio"] = r.alone.size() > 1 ? Json(thousandths(r.ratio)) : Json();  // one device is not compared with itself
  json["bound_us"] = tenths(r.bound_us);
  json["bound_ratio"] = thousandths(r.best_us / r.bound_us);
  json["worth_it"] = r.alone.size() > 1 && r.ratio >= kWorthIt;
  return json_text(json);
}

std::string result_line(const EvaluateResult& r) {
  std::string text =
      cat(r.cfg, ": median ", ms(r.latency.median), " ms (min ", ms(r.latency.min), ", p95 ", ms(r.latency.p95), ")");
  if (r.accuracy)
    text += cat("; ", two_decimals(r.accuracy->percent(r.accuracy->top1)), " % of ",
                counted(r.accuracy->images, "image"), " right");
  if (r.alone.size() == 1) return text + cat("; all on ", r.alone[0].name);
  for (const Baseline& baseline : r.alone) text += cat("; ", baseline.name, " alone ", ms(baseline.latency.median));
  if (r.together) text += cat("; ", r.together->name, " ", ms(r.together->latency.median));
  text +=
      cat("; ", two_decimals(r.ratio), " times the best single device (", r.best, "), bound ", ms(r.bound_us), " ms");
  return text + (r.ratio < kWorthIt ? ": not worth it" : "") + moved_text(r.line_ns);
}

std::string stats_line(const EvaluateResult& r) {
  const double top1 = thousandths(100 - r.accuracy->percent(r.accuracy->top1)),
               top5 = thousandths(100 - r.accuracy->percent(r.accuracy->top5));
  return "json_stats: " + json_text(Json{{"_type", "test_epoch"},
                                         {"cfg", r.cfg},
                                         {"epoch", "1/1"},
                                         {"images", r.accuracy->images},
                                         {"min_top1_err", top1},
                                         {"top1_err", top1},
                                         {"top5_err", top5}});
}

std::string timeline_json(const std::vector<EvaluateResult>& results) {
  std::vector<place::Timeline> timelines;
  for (const EvaluateResult& result : results) timelines.push_back({result.cfg, result.runs.segments});
  return place::timeline_json(timelines);
}

}  // namespace dnn::branch
