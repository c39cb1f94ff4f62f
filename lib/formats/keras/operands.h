// Arguments of operations: tensors, numbers that stand in their place, options.
#pragma once
#include "formats/keras/import.h"

namespace dnn::keras {

constexpr size_t kNowhere = SIZE_MAX;  // the place of an option that is never given by its place

// An argument by its place or its names in Keras 3 and TensorFlow, or an option of the operation; null where it is left out.
const Json& argument(Call& call, size_t place, std::initializer_list<const char*> names);
// The whole number or numbers of such an argument; Unsupported with `what` where the file holds no such number.
int64_t whole_argument(Call& call, const Json& v, const char* what);
std::vector<int64_t> wholes(Call& call, const Json& v, const char* what);
bool truth(Call& call, const Json& v, bool fallback);
// An axis counted from the front.
int64_t placed(Call& call, int64_t axis, int64_t rank);
// Numbers, in lists as nested as their shape has axes; or an array with its dtype.
Tensor tensor_of_numbers(Call& call, const Json& v, DType dtype);

// One of the tensors or numbers that an operation brings to one dtype.
struct Operand {
  ValueId tensor = kNoValue;
  Json numbers;
  DType dtype = DType::Undefined;  // Undefined: a number, which takes the tensors' where they can hold it
  bool real = false;               // of numbers: not all are whole
};
Operand operand_of(Call& call, const Json& v, size_t place);
// Tensors and numbers of a list argument.
std::vector<Operand> operands(Call& call, const Json& list);
// Operands as tensors of one dtype; of real numbers where `real`.
std::vector<ValueId> unified(Call& call, const std::vector<Operand>& operands, bool real = false);
// The two operands of an operation, of one dtype.
std::vector<ValueId> both(Call& call, bool real = false);

// A tensor, or numbers as a constant of the dtype of the call's first tensor.
ValueId operand(Call& call, size_t place, std::initializer_list<const char*> names);
ValueId first_operand(Call& call);
// Functions of real numbers make such of whole ones.
ValueId as_real(Call& call, ValueId v);

}  // namespace dnn::keras
