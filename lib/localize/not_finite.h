// Where NaN and infinities begin: layers that have some although all that they are computed from is finite.
#pragma once
#include <string>
#include <vector>

#include "base/threads.h"
#include "localize/lineup.h"

namespace dnn {

struct NotFiniteOrigin {
  size_t layer = 0;                   // index into the side's layers
  int64_t n_samples = 0;              // in which it is an origin
  int64_t n_nan = 0, n_infinite = 0;  // elements in these samples
  std::string sample;                 // the first of them, by its name
  Shape element;                      // index of the first such element there
  std::string parameter;  // the name of a constant of its node that is not finite itself; empty: none, or not known
};

// Of one network's runs.
class NotFinite {
 public:
  // A sample's values; `layers` are those of the first sample. On these threads, where there are any.
  void add(const std::vector<Layer>& layers, const std::vector<stream::TensorRecord>& records,
           const std::string& sample, ThreadPool* pool);
  // In the layers' order; `graph` (null: not known) says which parameters hold them.
  std::vector<NotFiniteOrigin> origins(const std::vector<Layer>& layers, const Graph* graph) const;

 private:
  std::vector<NotFiniteOrigin> found_;
};

}  // namespace dnn
