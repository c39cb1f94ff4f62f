// Targets; see target.h.
#include "target/target.h"

#include <algorithm>

namespace dnn {

const Chunks& Target::chunks() const {
  return isa->by_processor ? processor->chunks : processor_for(kGeneric, isa->vector_bytes).chunks;
}

Target make_target(const Isa& isa, std::string_view processor, int level, DType element) {
  return {&isa, &processor_for(processor, isa.vector_bytes), &level_of(level), element};
}

const std::vector<DType>& vector_elements() {
  static const std::vector<DType> elements = {DType::Float32, DType::Float64};
  return elements;
}

bool has_vectors(DType element) {
  return std::find(vector_elements().begin(), vector_elements().end(), element) != vector_elements().end();
}

Target any_target(int level) { return make_target(*isas_of(Language::C, false).back(), kGeneric, level); }

}  // namespace dnn
