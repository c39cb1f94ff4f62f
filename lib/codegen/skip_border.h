// Products with the zeros of a border, left out: of a 3x3 layer at 7x7 they are every fifth.
#pragma once
#include <string>

#include "loops/ir.h"

namespace dnn::codegen {

// for c: unrolled o: t[o] = t[o] + x[.., k0 + r, .. k1 + o ..] * w
//   ->  if (0 <= k0 + r): if (k1 + .. < 0): for c: (the same from the first o on that reads the tensor)  else: for c: ..
// For every loop over `inner` that does nothing but this: a row that lies in x's border as a whole goes by, and of a tile's
// columns those that do are left out. x's border holds zeros, so that no sum changes, but for the sign of a zero and where a
// weight is no number. Each number of columns to leave out is a copy of the loop.
loops::Stmt skip_border(const loops::Stmt& stmt, const std::string& inner);

}  // namespace dnn::codegen
