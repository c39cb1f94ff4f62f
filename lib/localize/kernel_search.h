// Searching the kernels of one side for those whose errors change its outputs.
#pragma once
#include <vector>

#include "localize/kernel_errors.h"
#include "localize/searched_side.h"

namespace dnn {

// Compares each kernel with the interpreter on the inputs that it had, in the searched sample that departs most. Empty where the
// side has no kernels of ours, or does not depart with `left_out` left out.
std::vector<KernelFinding> search_kernels(const SearchedSide& side, const LeftOut& left_out,
                                          const BisectOptions& options);

// Kernels that may be at fault: those that are wrong, the first ones first, or where none is, all of them by their rounding.
struct KernelSuspects {
  std::vector<const KernelError*> errors;
  bool wrong = false;
};
KernelSuspects kernel_suspects(const std::vector<KernelError>& errors, const OutputTolerance& tolerance, size_t most);

}  // namespace dnn
