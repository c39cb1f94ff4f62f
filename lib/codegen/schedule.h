// Schedules: how a lowered kernel's loops run on a kind of machine. A schedule recognises the kernel's pattern and loop
// names, asks what may be done, and applies the steps of loops/steps.h; its parameters are data.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "codegen/parameters.h"
#include "loops/ir.h"

namespace dnn::codegen {

// What a schedule may assume and choose.
struct ScheduleOptions {
  int opt = 0;                    // level: from 3 on reductions may be reordered by blocks and products contracted
  bool reassociate = false;       // sums may be taken in another order
  int64_t lanes = 16;             // elements of a block: what vector loops run over (of float64 half as many)
  int64_t native_lanes = 16;      // of float32 in a register of the machine; vector loops end up as wide
  int64_t vector_registers = 31;  // such registers that a tile may count on
  bool half_vectors = false;      // that half as many lanes take half as long
  int64_t panel = 2;              // blocks side by side in packed constants, where they divide
  int64_t widest_tile = 4;        // blocks across in a register tile of several rows
  int64_t least_tasks = 8;        // that blocks of a layer must leave, so that a few threads are busy
  // chunk_kib of matrix products that nothing else was chosen for; none: as of convolutions
  std::optional<int64_t> product_chunk_kib;
  // From how many multiply-adds of vectors on, that go by for each line, weights are fetched ahead to the first cache; others to
  // the second.
  int64_t nearest_from = INT64_MAX;
  int64_t near_bytes = int64_t{512} << 10;  // of a left-hand matrix that stay in the second cache beside the rest
  bool gpu = false;                         // for schedule_gpu()
  bool matrix_products = false;             // there: by matrix instructions, which change the last bits
  int64_t parallel_tasks = 64;              // enough tasks to balance any thread count we expect
  ScheduleParameters parameters;            // for the kernel at hand
};

// Schedules `kernel` for a CPU. Buffers in `packable` are constants that the schedule may give another layout: the
// kernel then names new buffers (same name) in their place.
loops::Kernel schedule_cpu(const loops::Kernel& kernel, const std::set<const loops::Buffer*>& packable,
                           const ScheduleOptions& options);

// The same for a GPU: where tiles of threads share what they read, the kernel has loops over them; elsewhere a task is a thread.
loops::Kernel schedule_gpu(const loops::Kernel& kernel, const std::set<const loops::Buffer*>& packable,
                           const ScheduleOptions& options);

}  // namespace dnn::codegen
