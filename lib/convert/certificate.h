// Certificates: how far a converted model's outputs are from its source's, on probe inputs; both interpreted, or run by the
// frameworks that they belong to.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convert/rounding_ties.h"
#include "graph/graph.h"

namespace dnn {

struct CertifyOptions {
  int probes = 8;  // seeded inputs
  uint64_t seed = 0;
  std::vector<std::vector<Tensor>> given;  // inputs in place of seeded ones, see probes.h
  int threads = 0;                         // 0: one per processor; the same figures with any
};

struct Certificate {
  struct Output {
    std::string name;                                        // in the source
    double max_absolute = 0, max_relative = 0, max_ulp = 0;  // relative to the source output's largest magnitude
    int64_t same_top1 = 0;                                   // probes whose first largest element is in the same place
  };
  int probes = 0;
  std::optional<uint64_t> seed;  // none: the inputs were given
  std::vector<Output> outputs;
  std::string source_by, target_by;  // the framework that ran a side, with its version; "": as dnn-tools reads it
  double time_s = 0;
  std::optional<RoundingTies> ties;  // where outputs of networks on integers are further apart than they may be

  // Tells whether outputs are as near as that, or would be but for rounding ties.
  bool within(double tolerance) const;
  double max_relative() const;  // over the outputs; a NaN beside a number is infinitely far
  std::string text() const;     // one line
  // {"probes": 8, "seed": 0 (null: given inputs), "device": "reference", "outputs": [{"name": ..., "max_absolute": ...}]}; without the time, so that
  // the same conversion says the same. Where a framework ran a side, "source" and "target" in place of "device" say which. Where ties were
  // looked for: "rounding_ties": {"quantisers": 28, "integers": 99000, "ties": 3, "max_relative": 1e-6, "why_not": null}.
  std::string json() const;
};

// Adds how far the target's output is from the source's. Throws Malformed where their types differ.
void compare_outputs(const Tensor& source, const Tensor& target, Certificate::Output* output);

// Open extents of the inputs become 1, in the graph's types too; whether there were any.
bool fix_open_extents(Graph& graph);

// The source's half of a certificate: what it computes on the probes, so that the source itself need not stay in memory.
class Yardstick {
 public:
  // Runs the source on given inputs, or uniform ones in [-1, 1), integers over their range; open extents are 1. Throws Unsupported
  // where it does not run on them.
  Yardstick(Graph source, const CertifyOptions& options);
  // Runs the target on the same inputs. Throws Malformed where inputs or outputs differ in number, dtype or shape, and what
  // running the target throws.
  Certificate judge(Graph target) const;
  // The same of what a framework, called `by`, made of the target on inputs(). Throws Malformed.
  Certificate judge(const std::string& by, const std::vector<std::vector<Tensor>>& outputs) const;
  // This one with what a framework, called `by`, made of the source.
  Yardstick with(const std::string& by, std::vector<std::vector<Tensor>> outputs) const;
  // Sets the certificate's ties where both networks round to integers; source and target are those that it is of. Throws what running
  // them throws.
  void look_for_ties(Graph source, Graph target, Certificate* certificate) const;
  const std::vector<std::vector<Tensor>>& inputs() const { return inputs_; }  // by probe

 private:
  int threads_;
  Certificate blank_;
  std::vector<Type> input_types_;
  std::vector<std::vector<Tensor>> inputs_, expected_;
};

// Both halves.
Certificate certify(Graph source, Graph target, const CertifyOptions& options);

}  // namespace dnn
