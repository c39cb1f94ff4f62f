// The arena of a variant's steps while these are made: who uses which memory when, and from that where it lies.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "codegen/memory_plan.h"
#include "codegen/parts.h"
#include "codegen/segments.h"
#include "package/package.h"

namespace dnn::codegen {

// Memory of the batch (Argument::Kind::Arena) and of a sample (Sample). `parts` and `segments` must outlive it.
class Arena {
 public:
  Arena(const Parts& parts, const Segments& segments) : parts_(parts), segments_(segments) {}

  static bool in_arena(const Argument& a) {
    return a.kind == Argument::Kind::Arena || a.kind == Argument::Kind::Sample;
  }
  // A buffer between the kernels of one node, as an argument of steps.
  Argument temporary(int64_t bytes, Argument::Kind kind);
  // The value whose memory an argument's value lies in: itself, where it is no part of another.
  ValueId whole_of(ValueId id) const;
  // Step number `step`, which computes `node`, uses the argument; `bytes` has the whole value that it lies in.
  void use(const Argument& a, int64_t bytes, int step, NodeId node);
  // The value's memory is its own until the step is done, used or not.
  void keep(ValueId id, int step);
  // Plans both arenas, and puts places in the arguments of the variant's steps and in its values. `outputs` are read at the end.
  // `element_bytes`: of a value that is a part of another.
  void place(Variant* variant, const std::vector<ValueId>& outputs,
             const std::function<int64_t(ValueId)>& element_bytes);

 private:
  struct Life {
    Lifetime steps;
    Argument::Kind kind;
    int64_t at = 0;
    std::set<size_t> segments = {};  // whose steps use it
  };

  // An argument that is a temporary has no value, and its number so until places are known.
  Life& temporary_of(const Argument& a) { return temporary_[-2 - a.at]; }
  void extend_over_runs(const Variant& variant, const std::vector<Life*>& all) const;
  bool all_before(const Life& one, const Life& other) const;
  void plan(const std::vector<Life*>& all, Argument::Kind kind, int64_t* bytes) const;

  const Parts& parts_;
  const Segments& segments_;
  std::map<ValueId, Life> lives_;
  std::vector<Life> temporary_;
};

}  // namespace dnn::codegen
