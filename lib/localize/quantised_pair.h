// A float network and its quantisation as a pair to localise in: what is compared, what is found, and what quantisation costs where.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "localize/findings.h"
#include "localize/quantised_judge.h"

namespace dnn {

// Tells what quantisation costs at a layer, as signal to noise in decibels; none where it costs nothing.
struct QuantisedCost {
  std::string layer, op;        // of the source's value, and of what makes it
  std::optional<double> local;  // its inputs, weights and bias rounded, from the source's own activations
  std::optional<double> whole;  // of the network as it ran
  double clipped = 0;           // the share of elements beyond the range
};

struct QuantisationReport {
  std::string form;                         // "int8 weights and activations"
  int64_t n_layers = 0, n_activations = 0;  // that were judged
  int64_t n_scaled = 0;                     // values whose channels were scaled between layers
  bool adaptive = false;
  std::vector<QuantisedCost> costs;  // dearest first
  // Measured of the network as it ran: how far its first outputs are, of their largest, and how many labels differ.
  double outputs_apart = 0;
  int64_t n_relabelled = 0, n_samples = 0;
  std::string why_no_costs;  // why it did not run
};

// QLinearConv and QLinearMatMul as operators on real numbers between quantisers, which is what is judged, and what edits are made in.
Graph with_quantisers(const Graph& graph);

// Integer biases whose scales are their input's times their weights' to nearly the last digit get these products: operators on integers
// have no other scales.
void settle_products(Graph* graph);

class QuantisedPair {
 public:
  // Tells whether the target is to be compared as the quantisation of the source.
  static bool is_one(const Graph& source, const Graph& target);
  // Both graphs are copied; types inferred. `measure` gives the ranges of values of the source, or of `instead`, where that is not null.
  using Measure = std::function<SourceRanges(const Graph* instead)>;
  QuantisedPair(const Graph& source, const Graph& target, const Measure& measure);

  const Graph& source() const { return source_.folded; }
  QuantisedSource::Fold fold() const { return source_.fold; }
  const Graph& as_quantised() const { return source_.as_quantised(); }
  // The network whose values are compared with those of the target as it was written; null: the source itself.
  const Graph* instead() const {
    return source_.equal || source_.fold == QuantisedSource::Fold::All ? &as_quantised() : nullptr;
  }
  const Graph& written() const { return written_; }
  const Graph& undone() const { return undone_; }
  const QuantisedVerdict& verdict() const { return verdict_; }
  // Tells what cannot be a quantiser's choice goes in front of, or instead of, what the float networks' comparison found.
  void add_findings(const OwnErrors& own, std::vector<Finding>* findings);
  QuantisationReport report() const;

 private:
  QuantisedPair(QuantisedSource source, Graph written) : source_(std::move(source)), written_(std::move(written)) {}
  // One fault may have misled what was told of the others' layers. Where mending it leaves fewer, those are the faults.
  void judge_behind_each(const Graph& source, const Measure& measure);
  Finding finding_of(size_t fault) const;
  bool is_behind_missing(const QuantisedFault& fault, const OwnErrors& own, const std::vector<Finding>& findings) const;

  QuantisedSource source_;
  Graph written_, undone_;
  QuantisedVerdict verdict_;
};

std::string quantisation_text(const QuantisationReport& report, int64_t top);
// A JSON object.
std::string quantisation_json(const QuantisationReport& report);

}  // namespace dnn
