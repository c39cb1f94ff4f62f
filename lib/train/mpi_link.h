// The link of ranks that a launcher of MPI started (mpirun, srun), by a module that is loaded when it is asked for.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "train/ranks.h"

namespace dnn::train {

// Joins the ranks. Of one at a time in a process; its functions are called by the thread that made it. Throws Environment, with the way
// out, where the module or MPI is not installed.
std::unique_ptr<RankLink> join_mpi_ranks();

// The file of that module, which was loaded. Throws as join_mpi_ranks() does.
std::string find_mpi();

// Throws Usage where a launcher started several processes, each of which would train the whole. `variable`: of the environment.
void refuse_unasked_ranks(const std::function<std::string(const std::string& name)>& variable);

}  // namespace dnn::train
