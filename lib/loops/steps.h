// The scheduling steps: rewrites of loop nests that keep what is computed. Loops are addressed by variable name; a step
// rewrites every loop of that name. A step that cannot be applied throws Internal: schedules ask before they act.
#pragma once
#include <string>
#include <vector>

#include "loops/ir.h"

namespace dnn::loops {

inline Expr constant_index(int64_t value) { return constant_int(DType::Int64, value); }

// for v < E: S(v)   ->   for v_o < E/f: for v_i < f: S(v_o*f + v_i);  for v_t < E%f: S(E/f*f + v_t)
// The tail nest appears only where f does not divide E. Refused for f < 1.
Stmt split(const Stmt& stmt, const std::string& v, int64_t factor);

// for v < E: S(v)   ->   for v_o < ceil(E/f): for v_i < f: S(v_o*f + v_i)
// Runs iterations past E: refused unless every buffer that S indexes with v has room for them (padded layouts), which
// for those that S stores to must not be a border.
Stmt split_padded(const Stmt& stmt, const std::string& v, int64_t factor);
// Whether split_padded() may be applied.
bool room_for_padding(const Stmt& stmt, const std::string& v, int64_t factor);

// for v < E: S(v)   ->   for v_o < E/f: for v_i < f: S(v_o*f + v_i);  for v_t < f: S(E-f + v_t)
// The last f again, where f does not divide E: each element of what S stores must come from nothing that S stores. Refused
// for f < 1 and E < f.
Stmt split_overlapping(const Stmt& stmt, const std::string& v, int64_t factor);

// for v < E: S(v)   ->   for v_a < at: S(v_a);  for v_b < E-at: S(at + v_b)
// Refused unless 0 <= at <= E; an empty part is left out.
Stmt partition(const Stmt& stmt, const std::string& v, int64_t at);

// for a < A: for b < B: S(a,b)   ->   for a < A*B: S(a // B, a % B)
// Refused unless b's loop is all that a's loop holds.
Stmt fuse(const Stmt& stmt, const std::string& a, const std::string& b);

// Nests perfectly nested loops in another order, outermost first; loops not named keep their place around them.
// Refused when a named loop is missing or another statement lies between them.
Stmt reorder(const Stmt& stmt, const std::vector<std::string>& order);

// for v: { local t; t = ..; for r: t = f(t, v, r); y[v] = t }
//   ->  { local t[E]; for v: t[v] = ..; for r: for v: t[v] = f(t[v], v, r); for v: y[v] = t[v] }
// Moves the loop to the leaves, through blocks and other loops, and gives it `kind` (Unrolled or Vector): this is what
// makes a register tile. It stops above loops that are tile loops already. Refused when an inner extent depends on v.
Stmt jam(const Stmt& stmt, const std::string& v, LoopKind kind);

// for u..: { local t; t = a; for r: S(t, r); y[..] = g(t) }   (u the variables from `outer` on)
//   ->  for r: for u..: { local t; if (r == 0) t = a else t = y[..]; S(t, r); if (r == last) y[..] = g(t) else y[..] = t }
// Moves the reduction's loop r outside of `outer`; what is summed so far waits in y. Refused unless can_carry_sums().
Stmt carry_sums(const Stmt& stmt, const std::string& outer, const std::string& r);
// Whether carry_sums() may be applied: one scalar t, and one store, to a y of its dtype, that needs it.
bool can_carry_sums(const Stmt& stmt, const std::string& outer, const std::string& r);

// { local t; t = 0; for r..: t = f(t, ..);  .. g(t + e) .. }   ->   { local t; t = e; for r..: t = f(t, ..);  .. g(t) .. }
// Wherever that is the only use of t, under no condition and in no loop of its own, and e hangs neither on u nor on what `stmt`
// stores. It takes the sum in another order.
Stmt start_sums(const Stmt& stmt, const std::string& u);

// Applies `change` to every loop over v, in place.
Stmt at_loop(const Stmt& stmt, const std::string& v, const std::function<Stmt(const Stmt&)>& change);

// Marks the loop's kind.
Stmt with_kind(const Stmt& stmt, const std::string& v, LoopKind kind);

// producer: t[i..] = e   and   consumer: y[d..] = g(t[d..], ..)   ->   y[i..] = g(e, ..)
// (through a local where g reads t more than once)
// `consumer` is a map nest over y's extents whose only reads of t are at its own indices. Refused otherwise.
Stmt inline_consumer(const Stmt& producer, const BufferRef& t, const Stmt& consumer);
// Whether inline_consumer() may be applied.
bool can_inline_consumer(const BufferRef& t, const Stmt& consumer);

// a*b + c  ->  fma(a, b, c) in floating-point expressions.
Stmt contract_fma(const Stmt& stmt);

// Extent of the loop over v, 0 when there is none; with several, the first.
int64_t loop_extent(const Stmt& stmt, const std::string& v);
// How the loop over v is run, of the perfectly nested loops from the top; Unrolled when it is none of them.
LoopKind outer_kind(const Stmt& stmt, const std::string& v);
// Variables of the perfectly nested loops from the top, outermost first.
std::vector<std::string> nest_variables(const Stmt& stmt);
// Every load and store of the statement: buffer and logical indices.
struct Access {
  BufferRef buffer;
  std::vector<Expr> indices;
  bool is_store;
};
std::vector<Access> accesses(const Stmt& stmt);

}  // namespace dnn::loops
