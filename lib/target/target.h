// Target: the machine and the level that code is made for, as one value that passes, schedules, printers and the build are given.
#pragma once
#include <string_view>
#include <vector>

#include "target/isa.h"
#include "target/level.h"
#include "target/processor.h"

namespace dnn {

struct Target {
  const Isa* isa;
  const Processor* processor;  // whose speeds decide
  const Level* level;
  DType element = DType::Float32;  // that the model's real numbers are computed in: float64 where it was widened

  const Backend* backend() const { return isa->backend(); }  // null for the interpreter
  // Where the level allows it and the device can.
  bool has_views() const { return level->views && backend() != nullptr && backend()->views; }
  bool takes_samples_alone() const { return level->samples_alone && samples_may_go_alone(); }
  bool uses_matrix_unit() const { return level->matrix_units && isa->matrix.k > 0; }
  // The same for factors of which it loses no bit: integers of a byte, whose sums are exact, and floats of 16 bits, whose sums come in
  // another order.
  bool multiplies_bytes_exactly() const { return isa->gpu && isa->matrix.k > 0; }
  bool multiplies_halves_exactly() const {
    return isa->gpu && isa->matrix.k > 0 && level->reassociate && dtype_size(element) == 2;
  }
  // Dot products of floats of 16 bits, which take sums in an order of their own and count denormal numbers as 0.
  bool uses_dot() const {
    return level->reassociate && level->flush_denormals && isa->dot.k > 0 && isa->dot.left == element;
  }
  // Of the device alone: what estimates go by.
  bool samples_may_go_alone() const { return backend() != nullptr && backend()->samples_alone; }
  // The processor's, or those of "generic" for code that was not measured on it.
  const Chunks& chunks() const;
};

Target make_target(const Isa& isa, std::string_view processor, int level, DType element = DType::Float32);

// What passes assume where no machine is asked for, as in a conversion: code in C for the widest vectors, on no processor in particular.
Target any_target(int level);

// The element types that kernels have vectors of; loops over others stay loops.
const std::vector<DType>& vector_elements();
bool has_vectors(DType element);

}  // namespace dnn
