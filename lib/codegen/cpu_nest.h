// A kernel on its way through a CPU's schedule: its loops so far, the machine they are for, and what the steps found out.
#pragma once
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "codegen/schedule.h"
#include "loops/steps.h"

namespace dnn::codegen::cpu {

// A value: each step of a schedule takes one and gives the next. Loops are named as lowering names them (convolutions: n, g, m channels
// of the output, c of the input, o0.. positions, k0.. taps; products of matrices: i rows, j columns, k depth), and steps add _o, _i and _t.
struct Nest {
  // `packable` and `options` must outlive it.
  Nest(const loops::Kernel& kernel, const std::set<const loops::Buffer*>& packable, const ScheduleOptions& options);

  loops::Kernel kernel;                            // as it was lowered, but for the arguments that are packed
  loops::Stmt body;                                // so far
  const std::set<const loops::Buffer*>* packable;  // constants that may have another layout
  const ScheduleOptions* options;
  loops::BufferRef output;
  DType dtype;                            // of the output
  const loops::Buffer* factor = nullptr;  // the constant factor of dot products
  std::set<const loops::Buffer*> packed;  // that pack_constants() made
  std::string own_loop;                   // the loop that is not for tasks any more, "" where all are

  // The machine, the level and the schedule's parameters.
  const Isa& isa() const { return *options->target.isa; }
  const Processor& processor() const { return *options->target.processor; }
  const Level& level() const { return *options->target.level; }
  const Chunks& chunks() const { return options->target.chunks(); }
  const ScheduleParameters& parameters() const { return options->parameters; }
  int64_t bytes() const { return std::max<int64_t>(1, static_cast<int64_t>(dtype_size(dtype))); }  // of an element
  int64_t lanes() const;                                                                           // of a vector loop
  int64_t native_lanes() const { return isa().lanes(dtype); }
  bool in_vectors() const;
  // Registers that hold `blocks` blocks.
  int64_t registers_of(int64_t blocks) const { return blocks * std::max<int64_t>(1, lanes() / native_lanes()); }
  // True where constants are to be asked for before they are read.
  bool fetches() const { return parameters().fetch_ahead != 0 && level().chunk && !packed.empty(); }
  // True where sums may wait in the output, which in 16 bits would round them.
  bool holds_sums() const { return options->narrow.count(output->name) == 0; }

  // The loops.
  int64_t extent(const std::string& v) const { return loops::loop_extent(body, v); }
  // The data that a convolution reads beside its weights.
  const loops::Buffer* input() const;
  // True where v runs along a blocked axis of some activation.
  bool blocked(const std::string& v) const;
  // True where a perfect nest holds a loop over `inner` somewhere inside of that over v.
  bool holds(const std::string& v, const std::string& inner) const;
  // How many times the loop over v begins, in a perfect nest.
  int64_t tasks_around(const std::string& v) const;
  std::string last_output_axis() const;

  // Runs v in vectors: padded to whole blocks where the buffers have room, else with the last elements `twice` or in narrowing vectors.
  // The names of the vector loops.
  std::vector<std::string> vectors_over(const std::string& v, bool twice = false);
  // Moves the loop over v directly inside the loop over `inner` (both of one perfect nest).
  void move_inside(const std::string& v, const std::string& inner);
};

// The blocks that pack_constants() makes.
struct Packing {
  std::string v;      // the loop whose blocks lie innermost
  int64_t width = 1;  // of such a block
  std::string inner = {};
  int64_t inner_width = 1;
  std::string pairs = {};  // the loop along which dot products take pairs, "" where there are none
};

// Gives constants that v indexes a layout in which v's blocks of `width` lie innermost, padded to whole blocks, and one
// block after the other, so that what a tile reads lies together. Of the factors of dot products pairs along `pairs` lie within these
// blocks, in 16 bits.
Nest pack_constants(const Nest& given, const Packing& packing);

// The constant that may be the factor of dot products with pairs along k, where v runs over vectors; null where there is none.
const loops::Buffer* find_factor(const Nest& nest, const std::string& v, const std::string& k);

}  // namespace dnn::codegen::cpu
