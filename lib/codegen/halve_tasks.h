// Twice as many tasks of half the rows each, so that two threads have equally much to do.
#pragma once
#include <string>

#include "loops/ir.h"

namespace dnn::codegen {

// S   ->   for half < 2: S with every loop over v going over one half of its turns
// Of the body of the loop over `around`, of all of `stmt` where that is "". What S stores outside of loops over v belongs to the last half. Each
// element is computed as before. `stmt` as it is where turns of such a loop are not independent: they store to memory where
// v does not say, or to a local of all turns.
loops::Stmt halve_tasks(const loops::Stmt& stmt, const std::string& around, const std::string& v);

}  // namespace dnn::codegen
