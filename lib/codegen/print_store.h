// Stores of kernels as text of a C-like language: elements, vectors, and sums of dot products.
#pragma once
#include <string>
#include <vector>

#include "codegen/print_place.h"

namespace dnn::codegen {

// The lines of a store.
std::vector<std::string> print_store(const Place& place, const loops::Stmt& store);

// A Matrix loop as one statement: sum[lane] += x[v] * w[lane][v] over four bytes, or two with w of 16 bits, in one go; or
// x[v][lane] * w[lane][v] over up to four bytes, of four; or, from the last to the first, x[v] * w[lane][v] over two floats of 16 bits.
// "" where the loop is none of these or the language has no word for it.
std::string print_dot_product(const Place& place, const loops::Stmt& loop);

}  // namespace dnn::codegen
