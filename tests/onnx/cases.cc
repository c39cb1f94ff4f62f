// The conformance cases on disk; see cases.h.
#include "onnx/cases.h"

#include <schemas/onnx.pb.h>

#include "base/file.h"
#include "base/text.h"
#include "formats/format.h"
#include "formats/onnx/tensor_proto.h"

namespace dnn::conformance {
namespace {

Tensor read_tensor_file(const std::string& path) {
  const MappedFile file(path);
  onnx::TensorProto proto;
  if (!proto.ParseFromArray(file.bytes().data(), static_cast<int>(file.bytes().size())))
    fail_malformed(path, ": not a TensorProto");
  ModelSource nowhere;
  nowhere.path = "-";
  onnx::ExternalFiles none(nowhere);
  return onnx::read_tensor(proto, none);
}

}  // namespace

std::vector<Case> list_cases(const std::string& folder) {
  std::vector<Case> cases;
  for (const std::string& line : split(read_file(folder + "/cases.tsv"), '\n')) {
    if (line.empty()) continue;
    const std::vector<std::string> fields = split(line, '\t');
    Case test;
    if (fields.size() != 5 || !parse_double(fields[2], &test.rtol) || !parse_double(fields[3], &test.atol))
      fail_malformed(folder, "/cases.tsv: not a case: ", quoted(line));
    test.kind = fields[0];
    test.name = fields[1];
    test.operators = split(fields[4], ',');
    test.folder = folder + "/" + test.id();
    cases.push_back(std::move(test));
  }
  return cases;
}

Graph read_graph(const Case& test) {
  ModelSource source = open_model(test.folder + "/model.onnx");
  source.onnx_reference = true;  // which made the expected outputs
  return read_model(source);
}

std::vector<DataSet> read_data_sets(const Case& test, size_t n_inputs, size_t n_outputs) {
  std::vector<DataSet> sets;
  for (int i = 0;; ++i) {
    const std::string folder = cat(test.folder, "/test_data_set_", i);
    if (!std::filesystem::is_directory(folder)) break;
    DataSet set;
    for (size_t k = 0; k < n_inputs; ++k) set.inputs.push_back(read_tensor_file(cat(folder, "/input_", k, ".pb")));
    for (size_t k = 0; k < n_outputs; ++k) set.outputs.push_back(read_tensor_file(cat(folder, "/output_", k, ".pb")));
    sets.push_back(std::move(set));
  }
  if (sets.empty()) fail_environment(test.folder, " has no test_data_set_0");
  return sets;
}

}  // namespace dnn::conformance
