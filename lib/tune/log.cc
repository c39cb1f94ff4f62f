// Logs; see log.h.
#include "tune/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/cpu.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"

namespace dnn::tune {
namespace {

using Json = nlohmann::ordered_json;
using codegen::ScheduleParameters;

constexpr std::string_view kBegin = R"({"type":")";  // of every line

int64_t integer(const Json& json, const char* key) {
  const Json& value = json.at(key);
  if (!value.is_number_integer()) fail_malformed("'", key, "' is no whole number");
  return value.get<int64_t>();
}

int small(const Json& json, const char* key) {
  const int64_t value = integer(json, key);
  if (value < 0 || value > INT32_MAX) fail_malformed("'", key, "' is out of range");
  return static_cast<int>(value);
}

double time_ns(const Json& json, const char* key) {
  const auto value = json.at(key).get<double>();
  if (!(value > 0) || !std::isfinite(value)) fail_malformed("'", key, "' is no time");
  return value;
}

// None when they are of another version.
std::optional<ScheduleParameters> parameters_of(const Json& json) {
  ScheduleParameters result;
  if (!json.is_object()) fail_malformed("'parameters' is no object");
  for (const auto& item : json.items()) {
    const std::string& name = item.key();
    const auto& table = codegen::schedule_parameters();
    const auto parameter = std::find_if(table.begin(), table.end(), [&](const auto& p) { return name == p.name; });
    if (parameter == table.end()) return std::nullopt;
    const int64_t number = integer(json, name.c_str());
    if (std::find(parameter->values.begin(), parameter->values.end(), number) == parameter->values.end())
      return std::nullopt;
    result.*parameter->field = number;
  }
  return result;
}

std::optional<Record> record_of(const Json& json) {
  const auto type = json.at("type").get<std::string>();
  if (type != "trial" && type != "choice") return std::nullopt;
  const std::optional<ScheduleParameters> parameters = parameters_of(json.at("parameters"));
  if (!parameters) return std::nullopt;
  Record r;
  r.choice = type == "choice";
  r.parameters = *parameters;
  r.cpu = json.at("cpu").get<std::string>();
  r.isa = json.at("isa").get<std::string>();
  r.opt = small(json, "opt");
  r.threads = small(json, "threads");
  r.kernel = json.at("kernel").get<std::string>();
  r.what = json.at("what").get<std::string>();
  r.latency_ns = time_ns(json, "latency_ns");
  r.default_ns = time_ns(json, "default_ns");
  r.gflops = json.at("gflops").get<double>();
  return r;
}

// Throws Environment for a device, a pipe or a folder.
void check_regular(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    fail_environment(path, ": is no file that a tuning log can be in");
}

}  // namespace

std::string to_line(const Record& r) {
  Json parameters = Json::object();
  for (const codegen::ScheduleParameter& p : codegen::schedule_parameters()) {
    if (r.parameters.*p.field != p.values[0]) parameters[p.name] = r.parameters.*p.field;
  }
  const Json json = {{"type", r.choice ? "choice" : "trial"},
                     {"cpu", r.cpu},
                     {"isa", r.isa},
                     {"opt", r.opt},
                     {"threads", r.threads},
                     {"kernel", r.kernel},
                     {"what", r.what},
                     {"parameters", parameters},
                     {"latency_ns", r.latency_ns},
                     {"default_ns", r.default_ns},
                     {"gflops", r.gflops}};
  return json_text(json);
}

std::vector<Record> read_log(const std::string& path, const std::function<void(const std::string&)>& warn) {
  check_regular(path);
  const std::string text = read_regular_file(path);
  std::vector<Record> records;
  size_t left_out = 0, number = 0;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty()) continue;
    try {
      const Json json = parse_ordered_json(line);
      if (std::optional<Record> record = record_of(json)) {
        records.push_back(std::move(*record));
      } else if (json.at("type") != "summary") {
        ++left_out;
      }
    } catch (const Json::exception&) {
      const bool begun = line.substr(0, kBegin.size()) == kBegin.substr(0, line.size());
      if (end == text.size() && begun) {
        warn(path + ": the last line was cut off and is left out");
      } else {
        fail_malformed(path, ":", number + 1, ": is no line of a tuning log");
      }
    } catch (Error& e) {
      throw e.within(cat(path, ":", number + 1));
    }
  }
  if (left_out > 0) warn(cat(path, ": ", left_out, " lines are of another version and are left out"));
  return records;
}

Log::Log(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  check_regular(path_);
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file_ < 0) fail_environment(path_, ": cannot be written: ", std::strerror(errno));
  const std::string text = read_regular_file(path_);
  const size_t whole = text.rfind('\n') + 1;  // 0 when there is no line
  if (whole == text.size()) return;
  if (Json::accept(text.substr(whole))) {
    add("");  // ends it
  } else if (ftruncate(file_, static_cast<off_t>(whole)) != 0) {
    fail_environment(path_, ": cannot be written: ", std::strerror(errno));
  }
}

Log::~Log() {
  if (file_ >= 0) close(file_);
}

void Log::add(const std::string& line) {
  if (file_ < 0) return;
  const std::string text = line + "\n";
  errno = ENOSPC;  // what a write that ends early means
  if (::write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    fail_environment(path_, ": cannot be written: ", std::strerror(errno));
}

codegen::Schedules schedules_of(const std::vector<Record>& records, const std::vector<std::string>& isas, int opt,
                                const std::string& cpu) {
  constexpr double kGain = 0.97;                                      // of the default's time
  std::map<std::pair<std::string, std::string>, const Record*> best;  // by instruction set and kernel
  for (const Record& r : records) {
    if (r.cpu != cpu || r.opt != opt || std::find(isas.begin(), isas.end(), r.isa) == isas.end()) continue;
    const Record*& held = best.try_emplace({r.isa, r.kernel}, nullptr).first->second;
    const auto cost = [](const Record& x) { return x.latency_ns / x.default_ns; };
    if (r.choice || (cost(r) < kGain && (held == nullptr || (!held->choice && cost(r) < cost(*held))))) held = &r;
  }
  codegen::Schedules result;
  for (const auto& [key, record] : best) {
    if (record != nullptr && !(record->parameters == ScheduleParameters{}))
      result[key.first][key.second] = record->parameters;
  }
  return result;
}

}  // namespace dnn::tune
