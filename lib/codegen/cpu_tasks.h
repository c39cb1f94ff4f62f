// Tasks of CPUs' kernels: which loops are divided among threads, and how evenly.
#pragma once
#include <string>

#include "codegen/cpu_nest.h"

namespace dnn::codegen::cpu {

// Outer loops become tasks until there are enough of them. To find a task's place takes longer than to copy an element, so
// the innermost loop is made tasks only where there would be few.
loops::Stmt mark_parallel(const Nest& nest);

// One too many of a few tasks leaves one of two threads with nothing beside it: then each goes over the loop over v in two halves.
loops::Stmt even_tasks(const Nest& nest, const std::string& v);

}  // namespace dnn::codegen::cpu
