// The battery of a phone or laptop as a meter of energy: the power that it gives, added up over time. Only where nothing charges it: on
// external power its figures are not what the machine spends.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "usage/kernel_file.h"

namespace dnn::usage {

class BatteryMeter {
 public:
  using Clock = std::chrono::steady_clock;
  // `folder`: /sys/class/power_supply.
  explicit BatteryMeter(const std::string& folder);
  // Millijoules since the first call, which gives 0: the power at each call is taken for that since the call before. Nothing from
  // the moment on at which a battery is charged or its power cannot be read.
  std::optional<double> read(Clock::time_point now);
  // "battery BAT0: the whole machine"; "none: " and why; "" where there is no battery.
  const std::string& text() const { return text_; }

 private:
  struct Battery {
    std::string name;
    KernelFile status, power, current, voltage;
  };
  static std::optional<double> watts(Battery& battery);
  static std::string why_not(Battery& battery);

  std::vector<Battery> batteries_;
  std::string text_;
  std::optional<Clock::time_point> last_;
  double total_mj_ = 0;
};

}  // namespace dnn::usage
