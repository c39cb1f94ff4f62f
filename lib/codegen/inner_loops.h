// Vectors inside a task: for kernels whose task runs several loops one after another, as softmax and layer normalisation do
// along a row. What a whole nest in vectors wants is schedule_cpu's own business; this is for what that leaves scalar.
#pragma once
#include <string>

#include "loops/ir.h"
#include "loops/simplify.h"

namespace dnn::codegen {

// Ranges of the variables of all loops in `stmt`.
loops::Ranges loop_ranges(const loops::Stmt& stmt);

// Whether what lies inside the loop over `v` may run in vectors of `dtype`: every access to memory moves by 0 or 1
// element with v, every store by 1, and no condition or conversion hangs on v. `ranges` bounds the variables in `stmt`.
// With `locals_grow`, locals are left out: jam() gives each lane its own.
bool vectorises(const loops::Stmt& stmt, const std::string& v, DType dtype, const loops::Ranges& ranges,
                bool locals_grow = true);

// Whether a condition is on indices, which has no vector form.
bool index_condition(const loops::Expr& e);

// Whether nothing in `stmt` reads from memory what it stores there, so that elements may be stored twice.
bool stores_only(const loops::Stmt& stmt);

// Splits the loop over v into vector loops of `lanes` and, for what is left, of half as many, and so on; the names of the
// vector loops are put behind `names`. With `twice`, what is left may be the last `lanes` elements once more.
loops::Stmt vector_split(const loops::Stmt& stmt, const std::string& v, int64_t lanes, bool twice,
                         std::vector<std::string>* names);

// The same, but padded to whole vectors where the buffers have room.
loops::Stmt padded_vector_split(const loops::Stmt& stmt, const std::string& v, int64_t lanes, bool twice,
                                std::vector<std::string>* names);

// Runs innermost loops in vectors: those that store one element each, and, with `reassociate`, those that add up a scalar
// (or keep its largest or smallest): `lanes` partial results, joined in pairs after the loop.
loops::Stmt vectorise_inner(const loops::Stmt& body, DType dtype, int64_t lanes, bool reassociate);

}  // namespace dnn::codegen
