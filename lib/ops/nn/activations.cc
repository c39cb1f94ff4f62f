// Activations of one operand.
#include "ops/elementwise.h"

namespace dnn {
namespace {

struct Rectify {
  template <class T>
  T operator()(T x) const {
    using elementwise::max;
    return max(elementwise::like(x, 0), x);  // a NaN stays a NaN
  }
};

}  // namespace

OpDef define_Relu() { return unary_op<Rectify, Domain::Numbers>("Relu", 14); }

}  // namespace dnn
