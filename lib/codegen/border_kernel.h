// Kernels that fill the border of a value's layout, which other kernels read where they pad.
#pragma once
#include <string>

#include "loops/ir.h"

namespace dnn::codegen {

// Stores `fill` to every element of y's border. `what` is y's type, for the comment. The kernel has no name yet.
loops::Kernel border_kernel(const loops::BufferRef& y, int64_t fill, const std::string& what);

}  // namespace dnn::codegen
