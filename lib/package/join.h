// Joining packages of one model, made for different targets, into one that holds the variants of both.
#pragma once
#include "package/package.h"

namespace dnn {

// Whether two variants are for one backend and have inputs and outputs of the same names and types in the same order: whoever has read of
// one what goes in and out has read it of both.
bool alike(const Variant& a, const Variant& b);

// Adds the variants of `more` behind those of `package`, which keeps its own facts. Constants of the same type and bytes become one.
// Throws Internal where they are not of one model: other inputs or outputs, another backend.
void add_variants(Package* package, const Package& more);

}  // namespace dnn
