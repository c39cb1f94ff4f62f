// check_placed(): what a plan from a file must keep, so that no run of it waits for ever or reads what is not there.
#include "package/placed.h"

#include <algorithm>

namespace dnn {
namespace {

constexpr size_t kMostParts = 26, kMostText = 4096, kMostLanes = 256;

class PlanCheck {
 public:
  explicit PlanCheck(const Package& package) : graph_(package.graph()), placed_(*package.placed) {}

  void check() {
    check_parts();
    if (placed_.segments.empty()) fail_plan("it has no segments");
    if (placed_.whole != nullptr) check_whole();
    check_lanes();
    size_t s = 0;
    for (size_t way = 0; way < placed_.ways(); ++way) {
      made_.assign(graph_.value_count(), false);
      for (ValueId v : graph_.inputs) made_[v] = true;
      for (; s < placed_.segments.size() && placed_.segments[s].way == way; ++s) check_segment(s, placed_.segments[s]);
      for (ValueId v : graph_.outputs) {
        if (!made_[v]) fail_plan("no segment makes output ", quoted(graph_.value(v).name));
      }
    }
    if (s != placed_.segments.size()) fail_plan("segment ", s, " is of way ", placed_.segments[s].way);
  }

 private:
  void check_parts() const {
    if (placed_.parts.empty() || placed_.parts.size() > kMostParts) fail_plan(placed_.parts.size(), " parts");
    for (const std::string& part : placed_.parts) {
      const bool plain =
          std::all_of(part.begin(), part.end(), [](char c) { return c > ' ' && c < '\x7f' && c != ','; });
      if (part.empty() || part.size() > kMostText || !plain) fail_plan("a part is called ", quoted(part.substr(0, 64)));
    }
  }

  void check_lanes() const {
    const std::vector<size_t>& lanes = placed_.lanes;
    if (lanes.size() > kMostLanes) fail_plan(lanes.size(), " lanes");
    if (placed_.ways() > kMostLanes || (placed_.ways() > 1 && (lanes.empty() || placed_.whole != nullptr)))
      fail_plan(placed_.ways(), " ways");
    if (!lanes.empty() && lanes.front() != 0) fail_plan("the first lane is of way ", lanes.front());
    for (size_t way : lanes) {
      if (way >= placed_.ways()) fail_plan("a lane is of way ", way);
    }
  }

  // One package of the same inputs and outputs, whose steps the segments share out.
  void check_whole() const {
    const Package& whole = *placed_.whole;
    if (whole.variants.size() != 1 || whole.backend() == kPlacedBackend || !whole.variants.front().state.empty())
      fail_plan("its package is not one that segments share out");
    const Graph& own = whole.graph();
    const auto same = [&](const std::vector<ValueId>& mine, const std::vector<ValueId>& theirs) {
      return std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end(), [&](ValueId a, ValueId b) {
        return graph_.value(a).name == own.value(b).name && graph_.value(a).type.text() == own.value(b).type.text();
      });
    };
    if (!same(graph_.inputs, own.inputs) || !same(graph_.outputs, own.outputs))
      fail_plan("its package has other inputs or outputs");
    std::vector<bool> taken(whole.variants.front().steps.size(), false);
    for (const PlacedSegment& segment : placed_.segments) {
      for (size_t i = 0; i < segment.steps.size(); ++i) {
        const size_t step = segment.steps[i];
        if (step >= taken.size() || taken[step] || (i > 0 && step < segment.steps[i - 1]))
          fail_plan("step ", step, " is not one segment's, in its order");
        taken[step] = true;
      }
    }
    if (std::find(taken.begin(), taken.end(), false) != taken.end()) fail_plan("no segment has one of the steps");
  }

  void check_segment(size_t index, const PlacedSegment& segment) {
    if (segment.part >= placed_.parts.size()) fail_plan("segment ", index, " is for part ", segment.part);
    if ((segment.package == nullptr) != (placed_.whole != nullptr) || (!segment.steps.empty() && !placed_.whole))
      fail_plan("segment ", index, " and the whole do not fit");
    for (const std::vector<ValueId>* values : {&segment.inputs, &segment.outputs}) {
      for (ValueId v : *values) check_value(index, v);
    }
    if (segment.package != nullptr) {
      if (segment.package->backend() == kPlacedBackend) fail_plan("segment ", index, " is placed itself");
      const Graph& own = segment.package->graph();
      check_values(index, segment.inputs, own, own.inputs);
      check_values(index, segment.outputs, own, own.outputs);
    }
    for (ValueId v : segment.inputs) {
      if (!made_[v]) fail_plan("segment ", index, " reads value ", v, " before it is made");
    }
    for (ValueId v : segment.outputs) {
      if (made_[v]) fail_plan("value ", v, " is made twice");
      made_[v] = true;
    }
  }

  void check_value(size_t index, ValueId v) const {
    if (v < 0 || v >= graph_.value_count()) fail_plan("segment ", index, " names value ", v);
  }

  // Checks a segment's inputs or outputs: `mine` in the whole graph, `theirs` in its own.
  void check_values(size_t index, const std::vector<ValueId>& mine, const Graph& own,
                    const std::vector<ValueId>& theirs) const {
    if (mine.size() != theirs.size())
      fail_plan("segment ", index, " lists ", mine.size(), " values, it has ", theirs.size());
    for (size_t i = 0; i < mine.size(); ++i) {
      const Type& type = graph_.value(mine[i]).type;
      if (!type.fixed() || type.text() != own.value(theirs[i]).type.text())
        fail_plan("segment ", index, " has value ", mine[i], " as ", own.value(theirs[i]).type.text(), ", it is ",
                  type.text());
    }
  }

  const Graph& graph_;
  const Placed& placed_;
  std::vector<bool> made_;  // by ValueId
};

}  // namespace

void check_placed(const Package& package) {
  const bool wanted = std::any_of(package.variants.begin(), package.variants.end(),
                                  [](const Variant& v) { return v.target.backend == kPlacedBackend; });
  if (wanted != (package.placed != nullptr) || (wanted && package.variants.size() != 1))
    fail_plan(wanted ? "the variant" : "the package", " is placed, and ", wanted ? "the package" : "its variant",
              " is not");
  if (package.placed == nullptr) return;
  const Variant& variant = package.variants.front();
  if (!variant.steps.empty() || !variant.kernels.empty() || !variant.state.empty())
    fail_plan("a placed package has steps of its own");
  PlanCheck(package).check();
}

}  // namespace dnn
