// What TorchScript computes on Python's values alone: numbers, lists, texts, and sizes of tensors.
#pragma once
#include <optional>

#include "formats/torch/evaluate.h"

namespace dnn::torch {

// Calls torch.NAME or ops.prim.NAME ("prim::NAME") where that is such a function for these arguments; else nothing.
std::optional<Any> call_builtin(Evaluator& evaluator, const std::string& name, const std::vector<Any>& arguments);

// int(), float(), bool() of a value.
Any to_int(Evaluator& evaluator, const Any& value);
Any to_real(Evaluator& evaluator, const Any& value);

}  // namespace dnn::torch
