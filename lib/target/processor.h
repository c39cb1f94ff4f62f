// Kinds of processors that the compiler distinguishes beyond their instruction set, as rows of processors.def: speeds, and how schedules
// cut work for their caches.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnn {

// None in particular; and devices whose threads take an element each.
inline constexpr const char *kGeneric = "generic", *kGpu = "gpu";

// Bytes a second as far as so many bytes are at hand.
struct Reach {
  double bytes, rate;
};

struct Speeds {
  double direct, product,
      transform;      // multiplications and additions: in convolutions, in matrix products, in transforms
  Reach weights[2];   // read where the network has so many and stays in the last cache from run to run, and from memory
  Reach tiles[3];     // written once and read once, as far as they stay in the L2 cache, in the last, or in none
  double launch = 0;  // seconds that each kernel costs beside its work
};

struct Chunks {
  // Of the L1 cache for the weights of a chunk of a matrix product that nothing else was chosen for; none: as of convolutions.
  std::optional<int64_t> product_chunk_kib = {};
  // From how many multiply-adds of vectors on, while a line of weights is used, weights are prefetched into L1; others into L2.
  int64_t nearest_from = INT64_MAX;
  bool half_vectors = false;                // half as many lanes take half as long
  int64_t near_bytes = int64_t{512} << 10;  // of a left-hand matrix that stay in the L2 cache beside the rest
};

struct Processor {
  const char* name;
  int64_t vector_bytes = 0;
  Speeds speeds;
  Chunks chunks = {};
  int64_t least_tasks = 8;      // that blocks of a layer must leave, so that a few threads are busy
  int64_t parallel_tasks = 64;  // enough to balance any number of threads
  bool fast_pairs = false;  // dot products of two floats of 16 bits come as often as multiply-adds of float32 numbers
};

const std::vector<Processor>& processors();
// The row of a kind for code with such vectors; of "generic" where it has none.
const Processor& processor_for(std::string_view name, int64_t vector_bytes);

// Names of the kinds of CPUs: "generic", "zen4", "zen5".
const std::vector<std::string>& known_processors();
// This processor's; "generic" where it is none of the others.
std::string processor_kind();

}  // namespace dnn
