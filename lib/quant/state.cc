// Calibration states; see state.h.
#include "quant/state.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/sha256.h"
#include "graph/text.h"

namespace dnn::quant {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kFormat = "dnn-quantize state 1";
constexpr double kMostNumber = std::numeric_limits<float>::max();  // of what is calibrated on
constexpr size_t kMostParts = 64;                                  // of a sum: 40 parts of 53 bits cover all doubles

Json seen_json(const std::string& name, const Seen& seen) {
  const Histogram::Parts parts = seen.histogram.parts();
  return {{"name", name},
          {"samples", seen.samples},
          {"low", parts.low},
          {"high", parts.high},
          {"low_sum", seen.low_sum.parts()},
          {"high_sum", seen.high_sum.parts()},
          {"not_finite", parts.not_finite},
          {"zeros", parts.zeros},
          {"at_low", parts.at_low},
          {"at_high", parts.at_high},
          {"exponent", parts.exponent},
          {"first", parts.first},
          {"counts", parts.counts}};
}

int64_t count_in(const Json& json, const char* key) {
  const Json& value = json.at(key);
  if (!value.is_number_integer()) fail_malformed("'", key, "' is no whole number");
  const auto count = value.get<int64_t>();
  if (count < 0 || count > kMostCount) fail_malformed("'", key, "' is out of range");
  return count;
}

double finite_in(const Json& json) {
  if (!json.is_number()) fail_malformed("a sum or an extreme is no number");
  const auto number = json.get<double>();
  if (!std::isfinite(number)) fail_malformed("a sum or an extreme is not finite");
  return number;
}

ExactSum sum_in(const Json& json) {
  if (!json.is_array() || json.size() > kMostParts)
    fail_malformed("a sum is no list of at most ", kMostParts, " parts");
  std::vector<double> parts;
  for (const Json& part : json) parts.push_back(finite_in(part));
  constexpr double kMostSum = kMostNumber * static_cast<double>(kMostCount);
  if (std::any_of(parts.begin(), parts.end(), [&](double part) { return std::abs(part) > kMostSum; }))
    fail_malformed("a sum is out of range");
  return ExactSum(parts);
}

// True of a sum that so many numbers within [low, high] can have; products round.
bool sums_within(double sum, int64_t count, double low, double high) {
  constexpr double kRounding = 1e-9;
  const auto n = static_cast<double>(count);
  const double slack = kRounding * n * std::max(std::abs(low), std::abs(high));
  return sum >= n * low - slack && sum <= n * high + slack;
}

// A sample without finite numbers adds 0 to both sums.
void check_sums(const Seen& seen) {
  const double low = seen.low_sum.value(), high = seen.high_sum.value();
  const double least = std::min(seen.histogram.lowest(), 0.0), most = std::max(seen.histogram.highest(), 0.0);
  if (low > high || !sums_within(low, seen.samples, least, most) || !sums_within(high, seen.samples, least, most))
    fail_malformed("'low_sum' and 'high_sum' are no sums of ", seen.samples, " samples' extremes");
}

// Means are of numbers that the value's histogram saw, too, where there is one.
void check_means(const ChannelMeans& means, const Seen* seen) {
  const bool known = seen != nullptr && !seen->histogram.empty();
  const double low = known ? seen->histogram.lowest() : -kMostNumber;
  const double high = known ? seen->histogram.highest() : kMostNumber;
  for (const ExactSum& sum : means.sums) {
    if (!sums_within(sum.value(), means.count, low, high))
      fail_malformed("a channel's sum is not one of ", means.count, " numbers that were seen");
  }
}

Seen seen_in(const Json& json) {
  Histogram::Parts parts;
  parts.low = finite_in(json.at("low"));
  parts.high = finite_in(json.at("high"));
  parts.not_finite = count_in(json, "not_finite");
  // States of older versions lack these.
  for (const auto& [key, n] :
       {std::pair("zeros", &parts.zeros), {"at_low", &parts.at_low}, {"at_high", &parts.at_high}})
    *n = json.contains(key) ? count_in(json, key) : 0;
  const Json& exponent = json.at("exponent");
  if (!exponent.is_number_integer()) fail_malformed("'exponent' is no whole number");
  const auto e = exponent.get<int64_t>();
  if (e < INT16_MIN || e > INT16_MAX) fail_malformed("'exponent' is not one of float32's");
  parts.exponent = static_cast<int>(e);
  parts.first = count_in(json, "first");
  for (const Json& count : json.at("counts")) {
    if (!count.is_number_integer()) fail_malformed("a count is no whole number");
    parts.counts.push_back(count.get<int64_t>());
  }
  Seen seen;
  seen.histogram = Histogram::of(parts);
  seen.samples = count_in(json, "samples");
  seen.low_sum = sum_in(json.at("low_sum"));
  seen.high_sum = sum_in(json.at("high_sum"));
  check_sums(seen);
  return seen;
}

Ranges ranges_in(const Json& json) {
  Ranges ranges;
  for (const Json& row : json) {
    const auto from = row.at(0).get<int64_t>(), to = row.at(1).get<int64_t>();
    if (from < 0 || to <= from || to > kMostCount || (!ranges.empty() && from <= ranges.back().second))
      fail_malformed("'done' has no rising ranges");
    ranges.emplace_back(from, to);
  }
  return ranges;
}

State state_in(const Json& json) {
  if (!json.is_object() || json.value("format", "") != kFormat) fail_malformed("not a state of dnn-quantize");
  State state;
  state.network = json.at("network").get<std::string>();
  state.preprocess = json.at("preprocess").get<std::string>();
  state.samples = count_in(json, "samples");
  for (const Json& source : json.at("sources"))
    state.sources.push_back({source.at("inputs").get<std::vector<std::string>>(), ranges_in(source.at("done")),
                             source.value("folder", "")});
  for (const Json& value : json.at("values")) {
    const Seen seen = seen_in(value);
    if (seen.samples > state.samples) fail_malformed("a value was seen in more samples than there are");
    state.seen[value.at("name").get<std::string>()] = seen;
  }
  for (const Json& value : json.at("means")) {
    ChannelMeans means;
    const auto axis = value.at("axis").get<int64_t>();
    if (axis < -8 || axis > 8) fail_malformed("'axis' is out of range");
    means.axis = static_cast<int>(axis);
    means.count = count_in(value, "count");
    for (const Json& sum : value.at("sums")) means.sums.push_back(sum_in(sum));
    const auto name = value.at("name").get<std::string>();
    const auto seen = state.seen.find(name);
    check_means(means, seen == state.seen.end() ? nullptr : &seen->second);
    state.means[name] = std::move(means);
  }
  return state;
}

// Rows of both, which do not overlap.
Ranges joined(Ranges a, const Ranges& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end());
  Ranges result;
  for (const auto& row : a) {
    if (!result.empty() && result.back().second == row.first) {
      result.back().second = row.second;
    } else {
      result.push_back(row);
    }
  }
  return result;
}

// A sample that counted twice would weigh twice.
void refuse_seen_twice(const State& state, const SeenInputs& part) {
  for (const SeenInputs& source : state.sources) {
    const Ranges twice = common_positions(done_by(source, part), part.done);
    if (twice.empty()) continue;
    std::string where;
    if (source.inputs != part.inputs) where = cat(", as ", join(source.inputs));
    const int64_t n = count_positions(twice);
    fail_usage(counted(n, "sample"), " of ", join(part.inputs), n == 1 ? " was" : " were",
               " seen by another state, too", where,
               ": no sample may be in two; give each state a --shard of its own, as 0/2 and 1/2");
  }
}

}  // namespace

Ranges State::done(const SeenInputs& inputs) const {
  Ranges all;
  for (const SeenInputs& source : sources) {
    const Ranges ranges = done_by(source, inputs);
    all.insert(all.end(), ranges.begin(), ranges.end());
  }
  std::sort(all.begin(), all.end());
  Ranges joined;
  for (const auto& [from, to] : all) {
    if (joined.empty() || from > joined.back().second) {
      joined.emplace_back(from, to);
    } else {
      joined.back().second = std::max(joined.back().second, to);
    }
  }
  return joined;
}

std::string fingerprint(const Graph& bound) {
  const std::string text = to_text(bound);  // weights are in it as their SHA-256
  return sha256_hex(as_bytes(text));
}

std::string state_json(const State& state) {
  Json sources = Json::array(), values = Json::array(), means = Json::array();
  for (const SeenInputs& source : state.sources)
    sources.push_back({{"inputs", source.inputs}, {"folder", source.folder}, {"done", source.done}});
  for (const auto& [name, seen] : state.seen) values.push_back(seen_json(name, seen));
  for (const auto& [name, of] : state.means) {
    Json sums = Json::array();
    for (const ExactSum& sum : of.sums) sums.push_back(sum.parts());
    means.push_back({{"name", name}, {"axis", of.axis}, {"count", of.count}, {"sums", sums}});
  }
  const Json json = {{"format", kFormat},
                     {"network", state.network},
                     {"preprocess", state.preprocess},
                     {"samples", state.samples},
                     {"sources", sources},
                     {"values", values},
                     {"means", means}};
  return json_text(json) + "\n";
}

State parse_state(std::string_view text) {
  const Json json = parse_ordered_json(text);
  try {
    return state_in(json);
  } catch (const Json::exception& e) {
    fail_malformed("not a state of dnn-quantize: ", e.what());
  }
}

State read_state(const std::string& path) {
  const std::string text = read_regular_file(path);
  try {
    return parse_state(text);
  } catch (Error& error) {
    throw error.within(path);
  }
}

void merge(State* into, const State& part) {
  if (into->network.empty()) {
    *into = part;
    return;
  }
  if (into->network != part.network) fail_usage("the states are of different networks");
  if (into->preprocess != part.preprocess)
    fail_usage("the states are of different preprocessing: ", into->preprocess, " and ", part.preprocess);
  for (const SeenInputs& source : part.sources) refuse_seen_twice(*into, source);
  for (const SeenInputs& source : part.sources) {
    const auto same =
        std::find_if(into->sources.begin(), into->sources.end(), [&](const SeenInputs& s) { return s.is(source); });
    if (same == into->sources.end()) {
      into->sources.push_back(source);
    } else {
      same->done = joined(std::move(same->done), source.done);
    }
  }
  into->samples = added(into->samples, part.samples);
  for (const auto& [name, seen] : part.seen) into->seen[name].append(seen);
  for (const auto& [name, means] : part.means) {
    ChannelMeans& all = into->means[name];
    all.axis = means.axis;
    all.append(means);
  }
}

State state_of(const Graph& bound, const Calibration& calibration) {
  State state;
  state.samples = calibration.samples;
  for (const auto& [v, seen] : calibration.seen) state.seen[bound.value(v).name] = seen;
  for (const auto& [v, means] : calibration.means) state.means[bound.value(v).name] = means;
  return state;
}

void take_state(const Graph& bound, const State& state, Calibration* watched) {
  watched->samples = state.samples;
  for (auto& [v, seen] : watched->seen) {
    if (const auto of = state.seen.find(bound.value(v).name); of != state.seen.end()) seen = of->second;
  }
  for (auto& [v, means] : watched->means) {
    if (const auto of = state.means.find(bound.value(v).name); of != state.means.end()) means = of->second;
  }
}

}  // namespace dnn::quant
