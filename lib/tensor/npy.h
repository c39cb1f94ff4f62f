// NumPy's files: .npy (versions 1 to 3, both byte orders, both memory orders) and .npz read, .npy written.
#pragma once
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
// Arrays by name (without ".npy"), in the order of the archive.
std::vector<std::pair<std::string, Tensor>> parse_npz(Bytes file);

// Version 1.0 (2.0 where the header asks for it), little-endian, row-major: what numpy.save writes. Throws Unsupported
// for dtypes that NumPy does not have.
std::string format_npy(const Tensor& tensor);

}  // namespace dnn
