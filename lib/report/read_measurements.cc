// Kenning's measurements as a run; see legacy.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/sha256.h"
#include "base/text.h"
#include "report/json_fields.h"
#include "report/legacy.h"

namespace dnn::report {
namespace {

using Json = nlohmann::json;

constexpr const char* kMatrix = "eval_confusion_matrix";
// Times of the device, or of the request to it where that is all that was measured.
constexpr const char *kDeviceTime = "target_inference_step", *kRoundTrip = "protocol_inference_step";
constexpr int64_t kMostSamples = 20'000'000;
constexpr double kMostSeconds = 1e8;

const Json* checked_list(const Json& map, const char* key) {
  const auto found = map.find(key);
  if (found == map.end() || found->is_null()) return nullptr;
  if (!found->is_array()) fail_malformed("'", key, "' is no list");
  return &*found;
}

double checked_number(const Json& json, const char* key) {
  if (!json.is_number()) fail_malformed("'", key, "' holds what is no number");
  return json.get<double>();
}

std::vector<double> seconds_at(const Json& map, const char* key) {
  std::vector<double> seconds;
  if (const Json* list = checked_list(map, key)) {
    for (const Json& entry : *list) {
      seconds.push_back(checked_number(entry, key));
      if (!(seconds.back() >= 0 && seconds.back() <= kMostSeconds)) fail_malformed("'", key, "' holds what is no time");
    }
  }
  return seconds;
}

struct Judged {
  int64_t truth, predicted;
};

// A sample for each that the matrix counts: it does not say in which order they came. Its rows are the truth.
std::vector<Judged> judged_of(const Json& map) {
  std::vector<Judged> all;
  const Json* matrix = checked_list(map, kMatrix);
  for (size_t row = 0; matrix != nullptr && row < matrix->size(); ++row) {
    const Json& cells = (*matrix)[row];
    if (!cells.is_array() || cells.size() != matrix->size()) fail_malformed("'", kMatrix, "' is not square");
    for (size_t column = 0; column < cells.size(); ++column) {
      const double count = checked_number(cells[column], kMatrix);
      if (!(count >= 0) || count != std::floor(count)) fail_malformed("'", kMatrix, "' holds what is no count");
      if (count > static_cast<double>(kMostSamples) - static_cast<double>(all.size()))
        fail_unsupported("'", kMatrix, "' counts more than ", kMostSamples, " samples");
      all.insert(all.end(), count, Judged{static_cast<int64_t>(row), static_cast<int64_t>(column)});
    }
  }
  return all;
}

std::vector<std::string> names_at(const Json& map, const char* key) {
  std::vector<std::string> names;
  const auto found = map.find(key);
  if (found == map.end() || !found->is_array()) return names;
  for (const Json& name : *found) names.push_back(name.is_string() ? name.get<std::string>() : json_text(name));
  return names;
}

// The number at this place of a list that stands beside the times, if there is one.
std::optional<double> beside(const Json* list, size_t i) {
  if (list == nullptr || i >= list->size() || !(*list)[i].is_number()) return std::nullopt;
  return (*list)[i].get<double>();
}

std::vector<stream::Usage> usage_of(const Json& map) {
  std::vector<stream::Usage> all;
  const Json* cores = checked_list(map, "session_utilization_cpus_percent");
  const auto time_of = [](double seconds) { return std::abs(seconds) < 9e9 ? static_cast<int64_t>(seconds * 1e9) : 0; };
  const std::vector<double> times = seconds_at(map, "session_utilization_timestamp");
  for (size_t i = 0; i < times.size(); ++i) {
    stream::Usage usage;
    usage.time_ns = time_of(times[i]);
    if (cores != nullptr && i < cores->size() && (*cores)[i].is_array()) {
      const Json& percents = (*cores)[i];
      for (size_t core = 0; core < percents.size(); ++core) usage.cores_percent.push_back(beside(&percents, core));
    }
    all.push_back(std::move(usage));
  }
  const Json* gpu = checked_list(map, "session_utilization_gpu_utilization");
  const std::vector<double> gpu_times = seconds_at(map, "session_utilization_gpu_timestamp");
  for (size_t i = 0; i < gpu_times.size(); ++i) {
    stream::Usage usage;
    usage.time_ns = time_of(gpu_times[i]);
    usage.gpu_percent = beside(gpu, i);
    if (usage.gpu_percent) all.push_back(std::move(usage));
  }
  return all;
}

stream::Header header_of(const Json& map, const std::string& path, const std::vector<std::string>& classes,
                         const char* time_key) {
  stream::Header header;
  header.tool = "kenning";
  header.command = names_at(map, "command");
  header.model.path = text_at(map, "model_name").empty() ? path : text_at(map, "model_name");
  header.model.format = text_at(map, "model_framework");
  if (!classes.empty()) header.label_set = "kenning:" + sha256_hex(as_bytes(join(classes, "\n"))).substr(0, 16);
  header.latency_contains = time_key == kDeviceTime
                                ? "target_inference_step, as Kenning's runtime measured it"
                                : "protocol_inference_step, from Kenning's request to run to the answer";
  const std::string framework = text_at(map, "compiler_framework");
  if (!framework.empty()) header.host["compiler"] = framework;
  return header;
}

void append(const Json& map, const std::string& path, const std::string& mark, std::vector<stream::Record>* records) {
  std::vector<double> seconds = seconds_at(map, kDeviceTime);
  const char* time_key = seconds.empty() ? kRoundTrip : kDeviceTime;
  if (seconds.empty()) seconds = seconds_at(map, kRoundTrip);
  const std::vector<Judged> judged = judged_of(map);
  const std::vector<std::string> classes = names_at(map, "class_names");
  const size_t n = judged.empty() ? seconds.size() : judged.size();
  if (n == 0) fail_malformed("it has neither times of inferences nor ", kMatrix, " with a sample");
  // A time is that of a batch. Where it is not clear of which samples, the times are left out.
  const size_t batch = seconds.empty() ? 1 : (n + seconds.size() - 1) / seconds.size();
  const bool timed = !seconds.empty() && (n + batch - 1) / batch == seconds.size();
  records->emplace_back(header_of(map, path, classes, time_key));
  for (size_t i = 0; i < n; ++i) {
    stream::Sample sample;
    sample.id = static_cast<int64_t>(i);
    // Samples of two files are not the same: nothing says which they were.
    sample.path = cat("measurements ", mark, " #", i + 1);
    stream::Prediction prediction;
    prediction.sample = sample.id;
    if (timed) {
      prediction.latency_ns = std::llround(seconds[i / batch] * 1e9);
      prediction.batch = static_cast<int64_t>(std::min(batch, n - i / batch * batch));
    }
    if (!judged.empty()) {
      sample.truth = judged[i].truth;
      const size_t best = judged[i].predicted;
      prediction.top_k.push_back(
          {judged[i].predicted, std::numeric_limits<double>::quiet_NaN(), best < classes.size() ? classes[best] : ""});
    }
    records->emplace_back(std::move(sample));
    records->emplace_back(std::move(prediction));
  }
  for (stream::Usage& usage : usage_of(map)) records->emplace_back(std::move(usage));
  records->emplace_back(stream::End());
}

}  // namespace

std::optional<std::string> json_of(PeekSource& source) {
  constexpr size_t kMagic = 16;  // the stream's reader, which gets these first, names another kind of file by so many
  const Bytes first = source.peek(kMagic);
  if (first.empty() || first[0] != std::byte{'{'}) return std::nullopt;
  std::string text;
  std::byte buffer[65536];
  while (const size_t n = source.read(buffer, sizeof buffer)) text += as_text({buffer, n});
  return text;
}

bool is_measurements(const std::string& json) {
  const Json map = parse_json(json);
  if (!map.is_object()) return false;
  for (const char* key : {kMatrix, kDeviceTime, kRoundTrip, "session_utilization_timestamp", "compiler_framework"}) {
    if (map.contains(key)) return true;
  }
  return false;
}

std::vector<stream::Record> records_of_measurements(const std::string& json, const std::string& path) {
  const Json map = parse_json(json);
  if (!map.is_object()) fail_malformed("no JSON object");
  const std::string mark = sha256_hex(as_bytes(json)).substr(0, 8);
  std::vector<stream::Record> records;
  append(map, path, mark, &records);
  // Kenning's comparison of a network with what it was before.
  const auto before = map.find("__unoptimized__");
  if (before != map.end() && before->is_object()) append(*before, path + ":unoptimized", mark + " before", &records);
  return records;
}

}  // namespace dnn::report
