// Batteries; see battery.h.
#include "usage/battery.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/printable.h"
#include "base/text.h"

namespace dnn::usage {
namespace {

namespace fs = std::filesystem;

// Microamperes, which some drivers count below 0 while the battery is used.
std::optional<double> magnitude_in(std::string_view text) {
  std::string digits(trimmed(text));
  if (!digits.empty() && digits[0] == '-') digits.erase(0, 1);
  const std::optional<int64_t> count = count_in(digits);
  return count ? std::optional<double>(static_cast<double>(*count)) : std::nullopt;
}

}  // namespace

BatteryMeter::BatteryMeter(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failure;
  constexpr size_t kMost = 64;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end && names.size() < kMost;
       at.increment(failure))
    names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string path = cat(folder, "/", name, "/");
    KernelFile type(path + "type"), scope(path + "scope");
    // A mouse has a battery, too.
    if (trimmed(type.read(64)) != "Battery" || trimmed(scope.read(64)) == "Device") continue;
    batteries_.push_back({plain(name), KernelFile(path + "status"), KernelFile(path + "power_now"),
                          KernelFile(path + "current_now"), KernelFile(path + "voltage_now")});
  }
  std::vector<std::string> found;
  for (Battery& battery : batteries_) {
    if (const std::string why = why_not(battery); !why.empty()) {
      text_ = cat("none: battery ", battery.name, ": ", why);
      batteries_.clear();
      return;
    }
    found.push_back("battery " + battery.name);
  }
  if (!found.empty()) text_ = cat(join(found), ": the whole machine");
}

std::string BatteryMeter::why_not(Battery& battery) {
  const std::string status = plain(trimmed(battery.status.read(64)));
  if (status != "Discharging")
    return cat("on external power (", status.empty() ? "status unknown" : status,
               "), so that its figures are not what a run takes");
  return watts(battery) ? "" : "its power cannot be read: " + battery.current.failure();
}

std::optional<double> BatteryMeter::watts(Battery& battery) {
  constexpr double kMicro = 1e-6;
  if (const auto power = magnitude_in(battery.power.read(64))) return kMicro * *power;
  const auto current = magnitude_in(battery.current.read(64)), voltage = magnitude_in(battery.voltage.read(64));
  if (!current || !voltage) return std::nullopt;
  return kMicro * *current * kMicro * *voltage;
}

std::optional<double> BatteryMeter::read(Clock::time_point now) {
  if (batteries_.empty()) return std::nullopt;
  const double seconds = last_ ? std::chrono::duration<double>(now - *last_).count() : 0;
  last_ = now;
  for (Battery& battery : batteries_) {
    const std::optional<double> power = why_not(battery).empty() ? watts(battery) : std::nullopt;
    if (!power) {
      batteries_.clear();  // what follows would lack this part
      return std::nullopt;
    }
    total_mj_ += 1000 * *power * seconds;
  }
  return total_mj_;
}

}  // namespace dnn::usage
