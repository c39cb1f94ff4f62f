// The parsers of /proc and /sys on hostile text: values are in range, and no two are made of one.
#include <cstdlib>

#include "base/affinity.h"
#include "fuzz/fuzz.h"
#include "usage/kernel_file.h"

DNN_FUZZ(kernel_file) {
  using namespace dnn::usage;
  const auto bytes = dnn::fuzz::as_input(data, size);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return dnn::fuzz::refuse_or_accept([&] {
    if (count_in(text).value_or(0) < 0 || field_of(text, "VmRSS").value_or(0) < 0) std::abort();
    const std::optional<std::vector<int>> list = dnn::parse_processors(text);
    if (list && dnn::parse_processors(dnn::processors_text(*list)) != list) std::abort();
    const ProcessStat stat = parse_process_stat(text);
    if (stat.cpu_ticks.value_or(0) < 0 || stat.minor_faults.value_or(0) < 0) std::abort();
    const double mhz = parse_cpuinfo_mhz(text).value_or(1);
    if (!(mhz > 0 && mhz < 1e6)) std::abort();
    const size_t half = text.size() / 2;
    for (const std::optional<double>& percent :
         busy_percent(parse_core_ticks(text.substr(0, half)), parse_core_ticks(text.substr(half)))) {
      if (percent && !(*percent >= 0 && *percent <= 100)) std::abort();
    }
  });
}
