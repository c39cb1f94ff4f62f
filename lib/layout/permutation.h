// Orders of axes composed and undone. The identity is {} of any rank.
#pragma once
#include "graph/graph.h"
#include "layout/settle.h"

namespace dnn {

// {} where p is the identity, else p.
Permutation normal(Permutation p);
// First p, then q.
Permutation compose(const Permutation& p, const Permutation& q);
Permutation inverse(const Permutation& p);
// The permutation that takes order `p` to order `q`: compose(p, it) is q.
Permutation change_of_order(const Permutation& p, const Permutation& q);
// With every axis listed, the identity's, too.
Permutation full(const Permutation& p, size_t rank);
// The type of a tensor whose axes are permuted; its shape is known.
Type permuted(const Type& type, const Permutation& p);

}  // namespace dnn
