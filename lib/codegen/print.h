// Printing scheduled kernels as source text: one C-like printer, and a vocabulary per language (C, OpenCL C, CUDA C).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "loops/ir.h"
#include "target/architecture.h"

namespace dnn::codegen {

// "f32", "f64x8", "i64", "bf16": how helper functions name a type; lanes 1 is a scalar.
std::string type_suffix(DType dtype, int64_t lanes);

// Functions of one float that the math libraries of C and CUDA have under these names.
inline constexpr const char* kMathFunctions[] = {"exp",   "log",   "sqrt",  "sin",  "cos",   "tan",
                                                 "asin",  "acos",  "atan",  "sinh", "cosh",  "tanh",
                                                 "asinh", "acosh", "atanh", "erf",  "floor", "ceil"};

// What differs between the C-like languages.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;
  // Text before kernels: the types and helper functions, named <operation>_<type> (max_f32, exp_f32x16), that occur in
  // their text `kernels`.
  virtual std::string prelude(const std::string& kernels) const = 0;
  // The function's opening, up to where the task index `task` (of `tasks`) is defined; and its closing. `threads` of a task: 0 where it
  // has none of its own.
  virtual std::string open(const loops::Kernel& kernel, int64_t tasks, int64_t threads) const = 0;
  virtual std::string close(const loops::Kernel& kernel) const = 0;
  virtual std::string index_type(const loops::Kernel& kernel) const = 0;
  virtual std::string scalar_type(DType dtype) const = 0;
  // A local array's declaration.
  virtual std::string local_array(const std::string& type, const std::string& name, int64_t n) const = 0;
  // The same for an array that a task's threads share, the number of a thread, and where each waits for all; Internal in a language of
  // single threads.
  virtual std::string shared_array(const std::string& type, const std::string& name, int64_t n) const;
  virtual std::string thread_number() const;
  virtual std::string barrier() const;
  // Where kernels have matrix instructions, as the preprocessor asks; "": nowhere.
  virtual std::string matrix_condition() const { return ""; }
  // One such instruction: 4 sums, on by the products of 4 elements with 2, which it keeps all bits of if `exact` (codegen/matrix_products.h).
  virtual std::string matrix_multiply(const std::vector<std::string>& operands, bool exact) const;
  // Whether there are any; where there are none, loops over lanes are unrolled.
  virtual bool knows_vectors() const { return true; }
  // Lanes that the language's vectors may have for a dtype; 1: none.
  virtual bool has_vector(DType dtype, int64_t lanes) const = 0;
  virtual std::string load_vector(DType dtype, int64_t lanes, const std::string& pointer) const = 0;
  virtual std::string store_vector(DType dtype, int64_t lanes, const std::string& pointer,
                                   const std::string& value) const = 0;
  // A vector out of its lanes' values; `lane` reads one of them.
  virtual std::string make_vector(DType dtype, int64_t lanes, const std::vector<std::string>& values) const = 0;
  virtual std::string lane(const std::string& vector, int64_t i) const = 0;
  virtual std::string fma(DType dtype, int64_t lanes, const std::string& a, const std::string& b,
                          const std::string& c) const = 0;
  // Vectors of int32 that bytes are computed in; "": the language has none.
  virtual std::string widen(DType, int64_t, const std::string&) const { return ""; }
  virtual std::string narrow(DType, int64_t, const std::string&, const std::string&) const { return ""; }
  // The same of numbers that may lie beyond the bytes, and become the least or the largest of them.
  virtual std::string narrow_saturated(DType, int64_t, const std::string&, const std::string&) const { return ""; }
  virtual std::string round_to_integer(int64_t, const std::string&) const { return ""; }
  // The operands: dividend, divisor, reciprocal, its rest, and where the result does not saturate low and high (codegen/rounded_quotients.h).
  virtual std::string round_quotient(int64_t, const std::vector<std::string>& /*operands*/) const { return ""; }
  virtual std::string integer_to_real(int64_t, const std::string&) const { return ""; }
  // A vector of float32 out of floats of 16 bits in memory.
  virtual std::string widen_real(DType from, int64_t lanes, const std::string& pointer) const {
    return cat("widen_", type_suffix(from, 1), "_", type_suffix(DType::Float32, lanes), "(", pointer, ")");
  }
  // A vector of float32 to floats of 16 bits in memory, which hold it but where it is to be rounded.
  virtual std::string narrow_real(DType to, int64_t lanes, bool rounds, const std::string& pointer,
                                  const std::string& value) const {
    return cat("narrow_", rounds ? "round_bfloat16" : type_suffix(to, 1), "_", type_suffix(DType::Float32, lanes), "(",
               pointer, ", ", value, ")");
  }
  // `sum`, on by the products of four bytes at `left` with four at `right` for each lane, or two with two of 16 bits: `depth`. Or of two
  // floats of 16 bits with two, the second product before the first.
  virtual std::string dot(DType, int64_t /*depth*/, int64_t, const std::string&, const std::string&,
                          const std::string&) const {
    return "";
  }
  // `sum`, on by the products of `depth` bytes for each lane: those at `left` plus lane, `stride` bytes apart, with as many of four at
  // `right`.
  virtual std::string dot_of_rows(DType, int64_t /*depth*/, int64_t, const std::string&, const std::string&,
                                  int64_t /*stride*/, const std::string&) const {
    return "";
  }
  // The finished function, or several in its place.
  virtual std::string finished(const loops::Kernel&, const std::string& text) const { return text; }
  // Asks for a line of memory; empty where the language has no word for it.
  virtual std::string prefetch(const std::string&, loops::Fetch) const { return ""; }
};

const Vocabulary& c_vocabulary(Arch architecture = Arch::X86_64);
// For one file of all kernels that is compiled elsewhere: functions are static. With vectors in the words of c_vocabulary(), whose bits it
// gives; without in C99 alone, which gives the bits of the same kernels with vectors where the compiler fuses no multiply-adds.
const Vocabulary& static_c_vocabulary(bool vectors);
const Vocabulary& opencl_vocabulary();
const Vocabulary& cuda_vocabulary();

// The kernel's function, without prelude. Its tasks are the product of the outermost parallel loops' extents.
std::string print_kernel(const loops::Kernel& kernel, const Vocabulary& vocabulary);
int64_t task_count(const loops::Kernel& kernel);
// Whether 32 bits hold all its offsets and tasks, and what a tile adds to the last ones.
bool small_indices(const loops::Kernel& kernel);
// Of a task: the extent of its loops over threads, 0 where it has none.
int64_t thread_count(const loops::Kernel& kernel);

}  // namespace dnn::codegen
