// The command line of dnn-convert.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "convert/convert.h"
#include "convert/probes.h"
#include "convert/source.h"

namespace dnn {

struct ConvertArgs {
  std::string input, output;
  WriteOptions write;
  std::optional<int64_t> opset, ir_version, probes;
  std::string architecture, weights;
  Surgery surgery;
  std::vector<std::string> ignored;
  bool onnx_reference = false, check = false;
  std::string dtype, io_dtype;
  ConvertOptions convert;  // without what the texts say
  ProbeOptions probe;
  bool no_certificate = false, trust_model = false;
  std::string certify, certificate;
  std::vector<std::string> faults;
  std::string faults_report;
  bool list_formats = false, list_ops = false, list_attributes = false, list_architectures = false, list_faults = false;

  // The options of read_to_convert(), which warns by `warn`.
  ConvertSource source(const std::function<void(const std::string& message)>& warn) const;
  // The options of convert_model(), but the samples of --probe, which the graph decides on. `target`: the format to write, null where it
  // is not known. Frameworks that judge find their places in the environment.
  ConvertOptions options(const Format* target, const std::function<void(const std::string& message)>& warn) const;
};

void declare_convert(cli::Args& args, ConvertArgs& o);

// Throws Usage unless there are a model and an output, and for options that would change nothing.
void check_convert(const ConvertArgs& o, const Format* target);

}  // namespace dnn
