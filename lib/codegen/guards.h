// Conditions on indices that guard reads, as where a window reaches into the padding.
#pragma once
#include <string>

#include "loops/ir.h"

namespace dnn::codegen {

// A zero that guards a read outside the tensor is not needed where the tensor's border holds that zero. With `any_number`, that holds
// for other numbers: of integers, borders hold what their readers say (ops/border.h).
loops::Stmt drop_guards(const loops::Stmt& body, bool any_number = false);

// Sets those turns of the loop over v apart in which no condition on v guards anything: up to three loops, one after the other. The
// name of the one that needs no conditions, from which they are gone; "" where there is none.
std::string set_apart_inside(loops::Stmt* body, const std::string& v);

// for v: S(v)   ->   for v: if (low <= v && v <= high) S'(v) else S(v)
// S' without the conditions that hold for these v; nothing is changed where none does.
loops::Stmt version_inside(const loops::Stmt& body, const std::string& v);

}  // namespace dnn::codegen
