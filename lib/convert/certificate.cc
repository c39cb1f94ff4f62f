// Running source and target on the same inputs; see certificate.h.
#include "convert/certificate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/json_text.h"
#include "base/mappings.h"
#include "base/threads.h"
#include "graph/bind.h"
#include "graph/tensor_text.h"
#include "interp/interpreter.h"
#include "ops/op.h"

namespace dnn {
namespace {

// Uniform in [-1, 1), small integers over their range, 32 and 64-bit ones 0 or 1.
Tensor probe_input(const Type& type, uint64_t seed) {
  const Shape shape = type.fixed_shape();
  const int bits = dtype_bits(type.dtype);
  if (!is_integer(type.dtype) || bits > 16) return random_tensor(type.dtype, shape, seed);
  std::vector<double> values = to_doubles(random_tensor(DType::Float32, shape, seed));
  const double lift = dtype_class(type.dtype) == DTypeClass::Signed ? 0 : 1;
  for (double& x : values) x = std::floor((x + lift) * std::ldexp(1.0, bits - 1));
  return convert(Tensor::of<double>(shape, values), type.dtype);
}

// Representable float32 numbers between two; infinite for a NaN beside a number.
double ulps(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::infinity();
  const auto place = [](double x) {
    const auto f = static_cast<float>(x);
    int32_t bits;
    std::memcpy(&bits, &f, sizeof bits);
    return bits < 0 ? -static_cast<int64_t>(bits & INT32_MAX) : static_cast<int64_t>(bits);
  };
  return static_cast<double>(std::llabs(place(a) - place(b)));
}

// Conversions may change the precision of what they are given and give.
bool alike(DType a, DType b) {
  const auto floating = [](DType dtype) { return dtype == DType::Float32 || dtype == DType::Float16; };
  return a == b || (floating(a) && floating(b));
}

size_t best(const std::vector<double>& values) {
  return std::max_element(values.begin(), values.end()) - values.begin();
}

}  // namespace

void compare_outputs(const Tensor& source, const Tensor& target, Certificate::Output* output) {
  if (source.shape() != target.shape() || !alike(source.dtype(), target.dtype())) {
    fail_malformed("output '", output->name, "' is ", Type(source).text(), " in the source, ", Type(target).text(),
                   " in the target");
  }
  const std::vector<double> a = to_doubles(source), b = to_doubles(target);
  double largest = 0, absolute = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool differ = a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]));
    const double d = std::abs(a[i] - b[i]);
    if (differ) absolute = std::max(absolute, std::isnan(d) ? std::numeric_limits<double>::infinity() : d);
    if (std::isfinite(a[i])) largest = std::max(largest, std::abs(a[i]));
    output->max_ulp = std::max(output->max_ulp, ulps(a[i], b[i]));
  }
  output->max_absolute = std::max(output->max_absolute, absolute);
  output->max_relative = std::max(output->max_relative, absolute == 0 ? 0 : absolute / std::max(largest, 1e-30));
  if (a.empty() || best(a) == best(b)) ++output->same_top1;
}

bool fix_open_extents(Graph& graph) {
  bool open = false;
  for (ValueId v : graph.inputs) {
    if (!graph.value(v).type.shape) continue;
    for (size_t i = 0; i < graph.value(v).type.shape->size(); ++i) {
      const Dim dim = (*graph.value(v).type.shape)[i];
      if (dim.fixed()) continue;
      open = true;
      if (dim.symbol.empty()) {
        (*graph.value(v).type.shape)[i] = Dim(1);
      } else {
        bind_symbol(graph, dim.symbol, 1);
      }
    }
  }
  return open;
}

double Certificate::max_relative() const {
  double most = 0;
  for (const Output& output : outputs) most = std::max(most, output.max_relative);
  return most;
}

bool Certificate::within(double tolerance) const {
  return max_relative() <= tolerance || (ties && ties->explain(tolerance));
}

std::string Certificate::text() const {
  std::vector<std::string> parts;
  for (const Output& o : outputs) {
    char figures[160];
    std::snprintf(figures, sizeof figures,
                  "at most %.2g apart (%.2g of the largest, %.0f ULP), top-1 equal on %lld of %d", o.max_absolute,
                  o.max_relative, o.max_ulp, static_cast<long long>(o.same_top1), probes);
    parts.push_back(cat(quoted(o.name), " ", figures));
  }
  char time[32];
  std::snprintf(time, sizeof time, "%.2f", time_s);
  const auto side = [](const std::string& by) { return by.empty() ? "read by dnn-tools" : "run by " + by; };
  const std::string how = source_by == target_by ? "source and target " + side(source_by)
                                                 : cat("source ", side(source_by), ", target ", side(target_by));
  return cat("certificate: ", how, " on ", counted(probes, "probe"), " in ", time, " s: ", join(parts, "; "),
             ties ? "; " + ties->text() : "");
}

std::string Certificate::json() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Output& o : outputs) {
    list.push_back({{"name", o.name},
                    {"max_absolute", o.max_absolute},
                    {"max_relative", o.max_relative},
                    {"max_ulp", o.max_ulp},
                    {"same_top1", o.same_top1}});
  }
  nlohmann::ordered_json json = {{"probes", probes},
                                 {"seed", seed ? nlohmann::ordered_json(*seed) : nlohmann::ordered_json()}};
  if (source_by.empty() && target_by.empty()) {
    json["device"] = "reference";
  } else {
    json["source"] = source_by.empty() ? "dnn-tools" : source_by;
    json["target"] = target_by.empty() ? "dnn-tools" : target_by;
  }
  json["outputs"] = list;
  if (ties) {
    json["rounding_ties"] = {
        {"quantisers", ties->n_quantisers},
        {"integers", ties->n_integers},
        {"ties", ties->n_ties},
        {"max_relative", ties->max_relative},
        {"why_not", ties->why_not.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(ties->why_not)}};
  }
  return json_text(json);
}

Yardstick::Yardstick(Graph source, const CertifyOptions& options) : threads_(options.threads) {
  const auto start = std::chrono::steady_clock::now();
  const bool open = fix_open_extents(source);
  blank_.probes = options.given.empty() ? options.probes : static_cast<int>(options.given.size());
  if (options.given.empty()) blank_.seed = options.seed;
  for (ValueId v : source.outputs) blank_.outputs.push_back({.name = source.value(v).name});
  for (ValueId v : source.inputs) input_types_.push_back(source.value(v).type);
  try {
    ThreadPool pool(threads_);
    infer_types(source);
    for (ValueId v = 0; v < source.value_count(); ++v) {  // goes with this graph, while the caller's shares its tensors
      std::optional<Tensor>& constant = source.value(v).constant;
      if (constant) constant = constant->arranged_copy();
    }
    for (int probe = 0; probe < blank_.probes; ++probe) {
      inputs_.emplace_back();
      if (!options.given.empty()) inputs_.back() = options.given[probe];
      for (size_t i = inputs_.back().size(); i < source.inputs.size(); ++i) {
        const uint64_t seed = options.seed + static_cast<uint64_t>(probe) * 1000003 + i;
        inputs_.back().push_back(probe_input(input_types_[i], seed));
      }
      expected_.push_back(interpret(source, inputs_.back(), {}, {}, &pool));
    }
  } catch (
      const Error& e) {  // the source's own trouble, open extents that cannot be 1 mostly, is no fault of the target
    if (e.kind() != ErrorKind::Malformed) throw;
    fail_unsupported("the source does not run on probes",
                     open ? ", with 1 for each open extent (fix them with --shape)" : "", ": ", e.what());
  }
  blank_.time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Certificate Yardstick::judge(Graph target) const {
  const auto start = std::chrono::steady_clock::now();
  fix_open_extents(target);
  Certificate certificate = blank_;
  if (input_types_.size() != target.inputs.size() || certificate.outputs.size() != target.outputs.size())
    fail_malformed("source and target differ in their inputs or outputs: ", input_types_.size(), " and ",
                   certificate.outputs.size(), " in the source, ", target.inputs.size(), " and ", target.outputs.size(),
                   " in the target");
  for (size_t i = 0; i < input_types_.size(); ++i) {
    const Type &type = input_types_[i], &other = target.value(target.inputs[i]).type;
    if (type.shape != other.shape || !alike(type.dtype, other.dtype))
      fail_malformed("input ", i, " is ", type.text(), " in the source, ", other.text(), " in the target");
  }
  ThreadPool pool(threads_);
  infer_types(target);
  for (size_t probe = 0; probe < inputs_.size(); ++probe) {
    std::vector<Tensor> given;
    for (size_t i = 0; i < inputs_[probe].size(); ++i)
      given.push_back(convert(inputs_[probe][i], target.value(target.inputs[i]).type.dtype));
    const std::vector<Tensor> outputs = interpret(target, given, {}, {}, &pool);
    for (size_t i = 0; i < outputs.size(); ++i)
      compare_outputs(expected_[probe][i], outputs[i], &certificate.outputs[i]);
    if (probe == 0) forget_mapped_files();  // weights that were to be arranged have been
  }
  certificate.time_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return certificate;
}

void Yardstick::look_for_ties(Graph source, Graph target, Certificate* certificate) const {
  const auto start = std::chrono::steady_clock::now();
  for (Graph* graph : {&source, &target}) {
    fix_open_extents(*graph);
    infer_types(*graph);
    if (!computes_on_integers(*graph)) return;
  }
  certificate->ties = judge_rounding_ties(std::move(source), std::move(target), inputs_, threads_);
  certificate->time_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Certificate Yardstick::judge(const std::string& by, const std::vector<std::vector<Tensor>>& outputs) const {
  Certificate certificate = blank_;
  certificate.target_by = by;
  for (size_t probe = 0; probe < outputs.size(); ++probe) {
    if (outputs[probe].size() != certificate.outputs.size())
      fail_malformed(by, " gives ", outputs[probe].size(), " outputs, not ", certificate.outputs.size());
    for (size_t i = 0; i < outputs[probe].size(); ++i)
      compare_outputs(expected_.at(probe)[i], outputs[probe][i], &certificate.outputs[i]);
  }
  return certificate;
}

Yardstick Yardstick::with(const std::string& by, std::vector<std::vector<Tensor>> outputs) const {
  Yardstick other = *this;
  other.blank_.source_by = by;
  for (const std::vector<Tensor>& probe : outputs) {
    if (probe.size() != blank_.outputs.size())
      fail_malformed(by, " gives ", probe.size(), " outputs, not ", blank_.outputs.size());
  }
  other.expected_ = std::move(outputs);
  return other;
}

Certificate certify(Graph source, Graph target, const CertifyOptions& options) {
  return Yardstick(std::move(source), options).judge(std::move(target));
}

}  // namespace dnn
