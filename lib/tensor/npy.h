// NumPy's files: .npy (versions 1 to 3, both byte orders, both memory orders) and .npz read, .npy written.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace dnn {

bool is_npy(Bytes file);
bool is_npz(Bytes file);  // by its first bytes: any zip

// The array of an .npy file, in row-major order and this machine's byte order. Dtypes: bool, int8 to int64, uint8 to
// uint64, float16 to float64, complex64 and complex128; byte strings and unicode become String. Throws Malformed, or
// Unsupported for objects (they are pickles), records, dates and long double.
Tensor parse_npy(Bytes file);

// Whether an array of this name (without ".npy"), dtype and shape is wanted, by its header; asked before it is inflated.
using WantsArray = std::function<bool(const std::string& name, DType dtype, const Shape& shape)>;
// To how many bytes an archive of so many may expand where nobody says: what a file asks for is held to its size.
constexpr uint64_t most_expanded(uint64_t file_bytes) { return 4 * file_bytes + (uint64_t{256} << 20); }
// Arrays by name, in the order of the archive: those that are wanted. Throws Unsupported where they expand to more than
// `most_bytes`; 0: most_expanded().
std::vector<std::pair<std::string, Tensor>> parse_npz(Bytes file, const WantsArray& wants = {},
                                                      uint64_t most_bytes = 0);

// Version 1.0 (2.0 where the header asks for it), little-endian, row-major: what numpy.save writes. Throws Unsupported
// for dtypes that NumPy does not have.
std::string format_npy(const Tensor& tensor);

}  // namespace dnn
