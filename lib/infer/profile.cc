// The profile's table; see profile.h.
#include "infer/profile.h"

#include <cstdio>

namespace dnn {
namespace {

std::string line(const char* time_us, const char* share, const char* gflops, const char* gbytes,
                 const std::string& kernel, const std::string& node) {
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, "%12s %7s %9s %8s  ", time_us, share, gflops, gbytes);
  return cat(numbers, kernel, "  ", node, "\n");
}

std::string number(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string rate(double amount, double ns) { return ns > 0 && amount > 0 ? number("%.1f", amount / ns) : "-"; }

}  // namespace

std::string profile_table(const Package& package, const std::vector<StepProfile>& profile) {
  double total_ns = 0, flops = 0, bytes = 0;
  const auto mean_ns = [&](size_t i) {
    return profile[i].runs == 0 ? 0.0 : static_cast<double>(profile[i].time_ns) / static_cast<double>(profile[i].runs);
  };
  const size_t n = std::min(profile.size(), package.steps.size());
  for (size_t i = 0; i < n; ++i) {
    total_ns += mean_ns(i);
    flops += package.steps[i].flops;
    bytes += package.steps[i].bytes;
  }
  std::string out = line("us/run", "%", "GFLOP/s", "GB/s", "kernel", "node");
  for (size_t i = 0; i < n; ++i) {
    const Step& step = package.steps[i];
    const double ns = mean_ns(i);
    const Node& node = package.graph.node(step.node);
    out += line(number("%.1f", ns / 1e3).c_str(), number("%.1f", total_ns > 0 ? 100 * ns / total_ns : 0).c_str(),
                rate(step.flops, ns).c_str(), rate(step.bytes, ns).c_str(),
                step.kernel < 0 ? "interpreted" : package.kernels[static_cast<size_t>(step.kernel)].name, node.label());
  }
  out += line(number("%.1f", total_ns / 1e3).c_str(), "100.0", rate(flops, total_ns).c_str(),
              rate(bytes, total_ns).c_str(), "all steps", "");
  return out;
}

}  // namespace dnn
