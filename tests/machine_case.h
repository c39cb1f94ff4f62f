// Machine: a target out of rows that a test may change.
#pragma once
#include "target/target.h"

namespace dnn {

struct Machine {
  Isa isa;
  Processor processor;
  Level level;

  explicit Machine(int opt, const Isa& of = *isas_of(Language::C, false).back(), const char* kind = kGeneric)
      : isa(of), processor(processor_for(kind, of.vector_bytes)), level(level_of(opt)) {}
  Target target() const { return {&isa, &processor, &level}; }
};

}  // namespace dnn
