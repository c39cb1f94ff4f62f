// Weights on their way: prefetches of what a reduction reads next, spread evenly over what it does meanwhile.
#pragma once
#include <set>
#include <string>

#include "loops/ir.h"

namespace dnn::codegen {

struct FetchLoops {
  std::string chunks;  // each turn of it reads other constants
  // After the last turn of `chunks`, to whose next turn the first chunk belongs: a loop around it, or itself; "" where it is none, and
  // what follows in memory is asked for.
  std::string groups;
  std::string inner;         // the innermost of the reduction: before each of its runs stands a share
  std::string shared;        // a loop in between all turns of which read the same of a chunk, "" where there is none
  int64_t nearest_from = 0;  // see ScheduleOptions
};

// Before each run of `inner`: asks for a share of the `constants` that the next turn of `chunks` reads, so that all of them have
// come by the time it begins. The shares are even, those of narrower last tiles included, as memory has so many lines on their way
// at most. Where `chunks` is `groups`, constants of fewer lines than there are runs are left to come by themselves.
loops::Stmt fetch_ahead(const loops::Stmt& stmt, const FetchLoops& loops,
                        const std::set<const loops::Buffer*>& constants);

// In the loop over `inner`: asks for a line of `x`, where its body reads x first in the next turn of the loop over v. `stmt` as it is
// where a turn does not move by one number of elements.
loops::Stmt fetch_input(const loops::Stmt& stmt, const std::string& inner, const loops::Buffer* x, const std::string& v,
                        loops::Fetch fetch);

}  // namespace dnn::codegen
