// fast-math: changes no node; its presence among the passes lets the code generator approximate exp, tanh and erf and
// reassociate reductions.
#include "passes/pass.h"

namespace dnn {

std::vector<Patch> fast_math(const Graph&, const PassContext&) { return {}; }

}  // namespace dnn
