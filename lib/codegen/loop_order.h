// The order in which loops go through memory: what moves how far, and what maps do about it.
#pragma once
#include <cstdint>
#include <string>

#include "loops/ir.h"
#include "loops/simplify.h"
#include "loops/steps.h"

namespace dnn::codegen {

// By how many elements an access moves with each step of the loop over v; false where that is not one number.
bool steps(const loops::Access& access, const std::string& v, const loops::Ranges& ranges, int64_t* step);

// Joins neighbouring loops of a nest that every access runs through as one.
loops::Stmt fuse_contiguous(const loops::Stmt& nest);
// The same of the innermost loops alone, as long as the last one ends within a vector of `lanes`: three channels that lie last, say.
loops::Stmt fuse_into_vectors(const loops::Stmt& nest, int64_t lanes);

// Of a nest that reads one element for each that it stores: the outer loops in the order of what is read. A processor waits
// for what it reads, and fetches ahead what it reads in order; what it writes it does not wait for.
loops::Stmt in_order_of_reading(const loops::Stmt& nest);

// One loop over v around nests that each have one of the same extent; the body as it is where they have not.
loops::Stmt outermost(const loops::Stmt& body, const std::string& v);

// Moves the loop over v directly inside the loop over `inner`, where both are of one perfect nest.
loops::Stmt move_inside(const loops::Stmt& stmt, const std::string& v, const std::string& inner);

}  // namespace dnn::codegen
