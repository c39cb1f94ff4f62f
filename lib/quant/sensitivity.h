// Sensitivity: what each rounding of a quantised network alone does to the outputs of the float32 one.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "quant/effect.h"
#include "quant/quantize.h"
#include "quant/stepwise.h"

namespace dnn::quant {

// One rounding: of a layer's weights, or of a value that has a quantiser.
struct Spot {
  bool weights = false;         // else of `value`
  std::optional<size_t> layer;  // whose weights they are, or that makes the value
  ValueId value = kNoValue;     // for weights: what the layer makes
  Effect effect;
  double signal = 0, noise = 0;  // squares of the value, and of what the rounding adds to it
  double sqnr_db() const;        // infinite where nothing is added
};

struct Sensitivity {
  std::vector<Layer> layers;
  std::vector<Spot> spots;  // in the graph's order
  int64_t samples = 0;
  bool labelled = false;  // the first output has classes
};

// `bound` with every extent fixed, its rounding, and inputs to measure on. The same figures for any number of threads.
Sensitivity measure_sensitivity(const Graph& bound, const Rounding& rounding,
                                const std::vector<std::vector<Tensor>>& samples, const CalibrateOptions& options);

// The same of any weights that stand in for the real ones, and of values that a plan rounds to `groups`.
Sensitivity measure_alternatives(const Graph& bound, const Plan& plan, const Alternatives& alternatives,
                                 const std::vector<Affine>& groups, const std::vector<std::vector<Tensor>>& samples,
                                 const CalibrateOptions& options);

// The same by layer, for reports.
struct SensitivityReport {
  struct Part {
    Effect effect;
    double sqnr_db = 0;
  };
  struct Row {
    std::string layer, op;  // a value that no layer makes has the operator that makes it, or "input"
    double share = 0;       // of all multiply-adds
    std::optional<Part> weights, output;
    double divergence() const;  // what both roundings add up to
  };
  int64_t samples = 0;
  bool labelled = false;
  std::vector<Row> rows;  // worst first
};
SensitivityReport sensitivity_report(const Graph& bound, const Sensitivity& sensitivity);

// A node's name, or that of what it makes first.
std::string name_of(const Graph& graph, NodeId id);

}  // namespace dnn::quant
