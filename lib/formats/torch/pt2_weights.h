// The weights of torch.export's archives, by name.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "formats/torch/archive.h"
#include "formats/torch/json.h"
#include "formats/torch/tensors.h"

namespace dnn::pt2 {

// torch's number of an element type, from the file's own. Unsupported for one that is not read.
int64_t torch_code(int64_t code);
// The element type that a tensor's metadata names.
DType dtype_of(const torch::Json& meta);

// The parameters, buffers and constants by their names.
class Weights {
 public:
  virtual ~Weights() = default;
  // Null where there is none of that name; it lives as long as this.
  virtual const torch::StoredTensor* find(const std::string& name) = 0;
};

// Those of an archive, first the ones to ask first. `old`: of the generation that keeps them as torch.save wrote them. The
// archive and `tensors`, which reads the bytes, outlive the result.
std::vector<std::unique_ptr<Weights>> open_weights(torch::Archive& archive, torch::StridedTensors& tensors, bool old);

}  // namespace dnn::pt2
