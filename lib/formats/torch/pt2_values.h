// The values of an exported program by their names, and arguments of its nodes.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/torch/import.h"
#include "formats/torch/json.h"
#include "formats/torch/pt2_weights.h"

namespace dnn::pt2 {

class ProgramValues {
 public:
  // `importer` outlives this.
  explicit ProgramValues(torch::Importer& importer) : importer_(importer) {}

  void set_weights(std::vector<std::unique_ptr<Weights>> weights) { weights_ = std::move(weights); }
  void set(const std::string& name, torch::Any value) { values_[name] = std::move(value); }
  // The value is this weight, which is read when it is asked for.
  void set_weight(const std::string& name, const std::string& weight) { pending_[name] = weight; }

  // Malformed where there is none of that name.
  torch::Any value(const std::string& name);
  // A node's argument: a union of one member. Unsupported for a kind that is not read.
  torch::Any argument(const torch::Json& arg);

 private:
  torch::StoredTensor weight(const std::string& name);
  torch::Any symbolic(const torch::Json& entry);

  torch::Importer& importer_;
  std::vector<std::unique_ptr<Weights>> weights_;
  std::map<std::string, std::string> pending_;  // by name in the graph: weights that nothing has read yet
  std::map<std::string, torch::Any> values_;
};

}  // namespace dnn::pt2
