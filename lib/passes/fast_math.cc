// fast-math: changes no node. Where it is among the passes, compile() lets the code generator take shorter approximations of
// exp, tanh and erf (2e-5, codegen/print_c.cc) and sums in another order (codegen/inner_loops.h).
#include "passes/pass.h"

namespace dnn {

std::vector<Patch> fast_math(const Graph&, const PassContext&) { return {}; }

}  // namespace dnn
