// NpzFolder: the tensors of a stream as files that numpy.load reads, one .npz for each sample.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stream/records.h"

namespace dnn::stream {

// Memory: the tensors of one batch. Files are FOLDER/ID_STEM.npz, ID the sample's number and STEM its file's name without extension;
// those of a second run lie in FOLDER/run2. An array has the name of its value in the source model, and of a sample's own tensor "input".
class NpzFolder {
 public:
  // `wrote` gets each file's name, its sample's path and the number of arrays.
  using Wrote = std::function<void(const std::string& file, const std::string& sample, size_t arrays)>;
  NpzFolder(std::string folder, Wrote wrote) : folder_(std::move(folder)), wrote_(std::move(wrote)) {}

  // Throws Unsupported for a dtype that NumPy does not have, Malformed where a sample's records do not stand together.
  void add(const Record& record);
  // Writes what is pending: at the end of each file.
  void flush();

 private:
  struct Arrays {
    std::vector<std::pair<std::string, Tensor>> by_name;  // in the stream's order
    bool written = false;
  };
  void put(int64_t sample, const std::string& name, const Tensor& tensor);
  void open_run();

  std::string folder_;
  Wrote wrote_;
  int64_t runs_ = 0;
  bool tensors_came_ = false;  // since the last sample: a next sample is of another batch
  std::map<int64_t, std::string> paths_;
  std::map<int64_t, Arrays> samples_;
};

}  // namespace dnn::stream
