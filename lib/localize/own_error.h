// Own errors: what each part of a network adds by itself, given what the other network computes in front of it.
//
// The target is cut at the values that it has in common with the source (segments.h). Each segment is given the source's
// activations and its result is compared with the source's: a layer that only passes an error on has none of its own, and an
// early fault hides no later one. Whether a difference is one of meaning or of rounding, float64 tells: both networks' segments
// in float64, from the same activations, differ by what they mean; in float32 each differs from that by its rounding.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/threads.h"
#include "localize/edits.h"
#include "localize/isolated.h"
#include "localize/segments.h"

namespace dnn {

using NamedTensors = std::map<std::string, Tensor, std::less<>>;

// Tells how far the weights of a layer are apart, once scales are folded into them.
struct WeightsApart {
  size_t n = 0, n_apart = 0;  // numbers, and those that differ by more than rounding them explains
  double times = 0;           // how many times that, at most
  double of_row = 0;          // the largest difference, of the largest number of its row
};

struct OwnError {
  enum class Verdict : uint8_t { Same, Rounding, Wrong, Fails };
  Joint joint;
  LayerPair::By by = LayerPair::By::Name;
  Segment source, target;  // joints are indices into OwnErrors::results()
  Verdict verdict = Verdict::Same;
  bool identical = false;                  // the same computation to the bit, which need not be run
  int64_t n_samples = 0, n_differing = 0;  // samples, and those beyond rounding
  double max_abs = 0, largest = 0;         // in float32; infinite where one side alone is NaN or infinite
  double error = 0;                        // ||source - target|| / ||source||
  // Of the source's largest magnitude: what is left in float64, and what rounding explains.
  std::optional<double> exact;
  double rounding = 0;
  Shape source_shape, target_shape;  // where it does not fit
  std::string failure;               // why it does not run on the source's activations
  // Where the source's segment computes what the target's does once some of its nodes read another value: those nodes, behind the
  // one that is missing then, if it is one.
  std::vector<NodeId> left_out;
  NodeId missing = -1;
  // Where the target's segment is right once one of its nodes has the source's attribute `cause_key`, or its constant at input
  // `cause_input`, or is left out (neither): that node.
  NodeId cause = -1;
  std::string cause_key;
  std::optional<size_t> cause_input;

  // Right on all samples, while both graphs bound their activations otherwise, and part where no sample comes.
  bool latent = false;
  // Right on all samples, while weights differ by more than rounding them explains: what that changes is below what rounding of the
  // layer's sums may be.
  std::optional<WeightsApart> hidden;

  bool wrong() const { return verdict == Verdict::Wrong || verdict == Verdict::Fails; }
  // What rounding explains, of the largest magnitude; and how many times that the difference is.
  double bound() const;
  double certainty() const;
};

struct OwnErrorOptions {
  // Segments are interpreted, as many at once as it has threads; must outlive the OwnErrors; null: one.
  ThreadPool* pool = nullptr;
  size_t keep = 0;                        // samples whose activations are kept, for try_target(), at least one
  bool keep_showing = false;              // and others on which a segment is wrong that was right so far
  size_t keep_bytes = size_t{256} << 20;  // but no more than these
  // Arithmetic spent on trying other line-ups, as much on other forms of one function, and on narrowing what is wrong; the same on every
  // machine: ten seconds at the interpreter's 1.5 GFLOP/s.
  double refine_flops = 1.5e10;
  Deadline deadline;  // after which no segment of the first sample is run, nor another line-up tried
};

class OwnErrors {
 public:
  // The graphs must outlive this; extents bound, types inferred.
  OwnErrors(const Graph& source, const Graph& target, OwnErrorOptions options);
  // Joints, before the first sample. Values that no input of the network has part in are left out.
  void line_up(const std::vector<Joint>& joints, const std::vector<LayerPair::By>& by);
  // The source's values of one sample, by name. The first decides on joints: those that are not the same value are taken back, and
  // values that agree join.
  void add(const NamedTensors& values);

  const Graph& source() const { return source_; }
  const std::vector<OwnError>& results() const { return results_; }
  // A segment of another target that has the same joints under the same ids (the target after an edit), on a kept sample.
  Trial try_target(const Graph& target, size_t joint, size_t kept) const;
  // The same, and the source's, as networks of their own; the source's is empty where it cannot be run by itself. Throws
  // Unsupported where the target's cannot.
  Isolated isolate(const Graph& target, size_t joint, size_t kept) const;
  // Trials where no sample comes, on the kept one's activations times some factors: what a latent fault is judged by.
  Trial try_beyond(const Graph& target, size_t joint, size_t kept) const;
  // How many times what rounding explains weights differ in another target that has the same joints: what a hidden fault is judged by.
  // Infinite where the two have no weights to compare. At least one sample is kept.
  double times_hidden(const Graph& target, size_t joint) const;
  size_t kept() const { return kept_.size(); }
  // What the source has at a joint on a kept sample, and what the target's segment makes of the source's activations, in the same
  // order of axes; nullopt where it does not run, or fit.
  std::optional<std::pair<Tensor, Tensor>> side_by_side(size_t joint, size_t kept) const;
  // A joint by names and extents, as the source has them on a kept sample.
  CommonValue common_value(size_t joint) const;
  // Whether every line-up that there was to try has been tried.
  bool complete() const { return complete_; }
  // How many joints are no common values, since both networks compute the same over the larger segment: channels in another order,
  // or scaled in one layer and back in the next.
  int64_t n_equivalent() const { return n_equivalent_; }
  // Whether the first sample left these two lined up; true for values that no input has part in.
  bool holds(ValueId source, ValueId target) const;

 private:
  struct Sums {
    double difference_squares = 0, reference_squares = 0;
    int judged = 0;
  };

  void cut();
  void forget(size_t joint);
  void keep(const NamedTensors& values);
  bool is_identical(size_t joint) const;
  void settle(const NamedTensors& values);
  void each(int64_t n, const std::function<void(int64_t)>& body) const;
  void doubt_order(const NamedTensors& values);
  Tensor feed(size_t joint, const NamedTensors& values, bool source) const;
  const Tensor& expected(size_t joint, const NamedTensors& values) const;
  Tensor run(const Graph& graph, const std::vector<ValueId>& ends, const Segment& segment, const NamedTensors& values,
             bool source, bool wide, std::map<std::string, Tensor>* inner = nullptr,
             const std::map<size_t, Tensor>& made = {}) const;
  void measure(size_t joint, const Tensor& made, const NamedTensors& values, bool count);
  void measure_alone(size_t joint, const NamedTensors& values, bool count);
  void run_and_measure(size_t joint, const NamedTensors& values, bool count);
  void judge(size_t joint, const Tensor& made, const NamedTensors& values);
  bool is_right(size_t joint, const Segment& ours, const Segment& theirs, const std::vector<ValueId>& source_ends,
                const std::vector<ValueId>& target_ends, const AxisOrder& order, const NamedTensors& values) const;
  bool agrees(const std::vector<ValueId>& source_ends, const std::vector<ValueId>& target_ends,
              const std::set<size_t>& changed, const std::vector<AxisOrder>& orders, const NamedTensors& values) const;
  std::set<size_t> behind(const std::set<size_t>& joints) const;
  bool agrees_without(const std::set<size_t>& withdrawn, const NamedTensors& values) const;
  std::set<NodeId> shared_nodes(size_t joint, bool source) const;
  bool realign(const NamedTensors& values);
  bool move_end(size_t joint, bool source, ValueId to, const NamedTensors& values);
  void explain(const NamedTensors& values);
  void explain_left_out(size_t joint, const Uses& uses, const NamedTensors& values);
  bool is_right_in(const Graph& changed, size_t joint, const NamedTensors& values);
  void find_cause(size_t joint, const NamedTensors& values);
  std::vector<size_t> in_target_order() const;
  std::optional<std::set<size_t>> vanishing(size_t joint, const std::vector<size_t>& order,
                                            const NamedTensors& values) const;
  bool equal_beyond(size_t joint, const std::set<size_t>& joints, const NamedTensors& values) const;
  void merge_equivalent(const NamedTensors& values);
  std::vector<Joint> joints_between(ValueId source, ValueId target, const NamedTensors& values) const;
  void add_by_values(const Joint& joint);  // one more, which the networks' values tell of
  bool take_between(size_t joint, const Joint& between, const NamedTensors& values);
  void narrow(const NamedTensors& values);
  void find_latent(const NamedTensors& values);
  std::optional<WeightsApart> weights_apart(const Graph& target, size_t joint, const NamedTensors& values) const;
  void find_hidden(const NamedTensors& values);
  void measure_fresh(const NamedTensors& values);
  bool withdraw(const NamedTensors& values);
  bool join(const NamedTensors& values);
  std::vector<ValueId> ends(bool source) const;
  bool may_try();
  bool doubtful(size_t joint) const;

  const Graph &source_, &target_;
  OwnErrorOptions options_;
  std::vector<bool> from_input_source_, from_input_target_;
  std::vector<OwnError> results_;
  std::vector<Sums> sums_;
  std::vector<bool> active_;
  std::vector<NamedTensors> kept_;
  size_t kept_bytes_ = 0;
  bool complete_ = true;
  bool orders_known_ = true;               // of axes: no measurement changes a joint's
  mutable bool shared_out_ = false;        // segments are on the pool's threads, each on one
  mutable std::atomic<double> flops_ = 0;  // of all that was interpreted; whole numbers, the same in any order
  double most_flops_ = 0;
  int64_t n_equivalent_ = 0;
  int64_t n_samples_ = 0;
};

}  // namespace dnn
