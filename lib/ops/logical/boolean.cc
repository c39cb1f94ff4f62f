// And, Or, Xor, Not on booleans.
#include "ops/elementwise.h"

namespace dnn::boolean_ops {
namespace {

struct Both {
  template <class T>
  auto operator()(T a, T b) const {
    return a && b;
  }
};
struct Either {
  template <class T>
  auto operator()(T a, T b) const {
    return a || b;
  }
};
struct OneOf {
  template <class T>
  auto operator()(T a, T b) const {
    return a != b;
  }
};
struct Opposite {
  template <class T>
  auto operator()(T a) const {
    return !a;
  }
};

}  // namespace

OpDef define_And() { return binary_op<Both, Domain::Bools>("And", 7, {Trait::Commutes}); }
OpDef define_Not() { return unary_op<Opposite, Domain::Bools>("Not", 1, kNoTraits); }
OpDef define_Or() { return binary_op<Either, Domain::Bools>("Or", 7, {Trait::Commutes}); }
OpDef define_Xor() { return binary_op<OneOf, Domain::Bools>("Xor", 7, {Trait::Commutes}); }

}  // namespace dnn::boolean_ops
