// Converting: a graph as a format can hold it, with the proof that it still computes the same.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "convert/certificate.h"
#include "formats/format.h"

namespace dnn {

// Where no tolerance is given: two computations in float32 differ by less; one in float16, with roundings of 5e-4 in each
// layer, by less than the other.
inline constexpr double kTolerance = 1e-4, kTolerance16 = 5e-2;

struct ConvertOptions {
  WriteOptions write;
  bool fold_batch_norms = false;    // also where the format has them; see surgery.h
  std::optional<DType> dtype;       // float16 or float32: what is computed in, where the format can; else the weights'
  DType io_dtype = DType::Float32;  // of inputs and outputs, with a dtype
  bool certify = true;
  CertifyOptions certificate;
  // Judges the written file, which lies at a path of its own then, in place of its reader here; see framework_judge.h.
  std::function<Certificate(const Yardstick& yardstick, const std::string& written)> judge;
  std::optional<double> tolerance;                       // of Certificate::max_relative(); above, nothing is written
  bool keep = false;                                     // unless this is set
  std::function<void(const std::string& message)> warn;  // why there is no certificate; may be empty
};

// Writes the graph in the format that the path names, after that format's passes (batch norms folded into the convolutions in
// front of them where the format has none). The certificate is of the file as it is read back; it goes into the file's
// metadata where that can be; of options.judge's where there is one. None where an operator or dtype cannot run here, which is warned of. Throws Negative above
// the tolerance, and what reading and writing throw.
std::optional<Certificate> convert_model(Graph source, const std::string& path, const ConvertOptions& options);

// The files that convert_model() would write, without a certificate, and their bytes.
ModelFiles converted_files(Graph source, const std::string& path, const ConvertOptions& options);
int64_t converted_bytes(Graph source, const std::string& path, const ConvertOptions& options);

}  // namespace dnn
