// The ONNX conformance cases as scripts/make-conformance lays them out in a folder.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn::conformance {

struct Case {
  std::string kind, name;
  double rtol = 0, atol = 0;
  std::vector<std::string> operators;  // sorted, "domain.Name" outside ai.onnx
  std::string folder;
  std::string id() const { return kind + "/" + name; }
};

struct DataSet {
  std::vector<Tensor> inputs, outputs;
};

// The rows of FOLDER/cases.tsv. Throws Environment or Malformed.
std::vector<Case> list_cases(const std::string& folder);
// The case's model; Unsupported and Malformed as the ONNX reader says.
Graph read_graph(const Case& test);
// Every test_data_set_* of a case whose graph has that many inputs and outputs, all tensors.
std::vector<DataSet> read_data_sets(const Case& test, size_t n_inputs, size_t n_outputs);

}  // namespace dnn::conformance
