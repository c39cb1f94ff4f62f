// The profile's table; see profile.h.
#include "infer/profile.h"

#include <algorithm>
#include <cstdio>

#include "base/counted.h"
#include "base/printable.h"
#include "graph/locate.h"
#include "ops/lowering.h"
#include "target/isa.h"

namespace dnn {
namespace {

std::string line(const std::vector<std::string>& numbers, const std::string& dtype, const std::string& kernel,
                 const std::string& node) {
  char text[128];
  std::snprintf(text, sizeof text, "%12s %7s %9s %8s %10s  %-12s  %-8s  ", numbers[0].c_str(), numbers[1].c_str(),
                numbers[2].c_str(), numbers[3].c_str(), numbers[4].c_str(), numbers[5].c_str(), dtype.c_str());
  return cat(text, kernel, "  ", node, "\n");
}

// The type of the numbers that a node computes with: of integers those that it reads; of a layer the package's.
std::string step_precision(const Graph& graph, const Node& node, std::string_view element) {
  for (ValueId v : node.inputs) {
    const DType dtype = v == kNoValue ? DType::Undefined : graph.value(v).type.dtype;
    if (dtype == DType::Int8 || dtype == DType::UInt8) return std::string(dtype_name(dtype));
  }
  const Node& head = *head_of(node).node;
  if (has_trait(head, Trait::Weighted) || (head.domain == kInternalDomain && head.op == "WinogradConv"))
    return std::string(element);
  const ValueId y = node.output(0);
  const DType made = y == kNoValue ? DType::Undefined : graph.value(y).type.dtype;
  return made == DType::Undefined ? "-" : std::string(dtype_name(made));
}

std::string number(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string rate(double amount, double ns) { return ns > 0 && amount > 0 ? number("%.1f", amount / ns) : "-"; }

// "compute 63%": the limit that a step of so much work meets first, and how near it came.
std::string bound(double flops, double bytes, double ns, const std::optional<Peaks>& peaks) {
  if (!peaks || ns <= 0 || (flops <= 0 && bytes <= 0)) return "-";
  const double compute_ns = flops / peaks->gflops, memory_ns = bytes / peaks->gbytes_per_s;
  return cat(compute_ns >= memory_ns ? "compute " : "memory ",
             number("%.0f", 100 * std::max(compute_ns, memory_ns) / ns), "%");
}

}  // namespace

std::string profile_table(const Variant& variant, const std::vector<StepProfile>& profile,
                          const std::optional<Peaks>& peaks, std::string_view element) {
  double total_ns = 0, flops = 0, bytes = 0;
  const auto mean_ns = [&](size_t i) {
    return profile[i].runs == 0 ? 0.0 : static_cast<double>(profile[i].time_ns) / static_cast<double>(profile[i].runs);
  };
  const size_t n = std::min(profile.size(), variant.steps.size());
  for (size_t i = 0; i < n; ++i) {
    total_ns += mean_ns(i);
    flops += variant.steps[i].flops;
    bytes += variant.steps[i].bytes;
  }
  const auto row = [&](double f, double b, double ns, const std::string& dtype, const std::string& kernel,
                       const std::string& node) {
    return line({number("%.1f", ns / 1e3), number("%.1f", total_ns > 0 ? 100 * ns / total_ns : 0), rate(f, ns),
                 rate(b, ns), number("%.1f", b / 1024), bound(f, b, ns, peaks)},
                dtype, kernel, node);
  };
  std::string out;
  if (peaks) {
    out = cat("peaks measured on ", counted(peaks->threads, "thread"), " of ", peaks->isa, ": ",
              number("%.1f", peaks->gflops), " GFLOP/s of float32 multiply-add, ", number("%.1f", peaks->gbytes_per_s),
              " GB/s of memory\n");
  }
  out += line({"us/run", "%", "GFLOP/s", "GB/s", "KiB", "bound"}, "dtype", "kernel", "node");
  for (size_t i = 0; i < n; ++i) {
    const Step& step = variant.steps[i];
    const Node& node = variant.graph->node(step.node);
    out += row(step.flops, step.bytes, mean_ns(i), step_precision(*variant.graph, node, element),
               step.kernel < 0 ? "interpreted" : clean(variant.kernels[step.kernel].name),
               clean(label_in(*variant.graph, node)));
  }
  return out + row(flops, bytes, total_ns, "-", "all steps", "");
}

std::string profile_of_session(const Session& session) {
  std::optional<Peaks> peaks;
  if (session.machine() == nullptr && find_isa(Language::C, session.isa()) != nullptr)
    peaks = measure_peaks(session.isa(), session.threads());
  return profile_table(session.variant(), session.profile(), peaks, session.package().info.dtype);
}

}  // namespace dnn
