// The command line of dnn-quantize.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "quant/model.h"

namespace dnn::quant {

struct QuantizeArgs {
  QuantizeRequest request;  // without what the texts below say
  std::string scheme = QuantizeOptions{}.scheme.name, method = QuantizeOptions{}.method.name;
  std::string form = "qdq", report, exclusions;
  std::string input_type = "float32", output_type = "float32";
  std::string shard = "0/1";
  std::vector<std::string> keep_float;
  std::optional<int64_t> opset;
  bool no_bias_correction = false;
  double max_float = 50;           // percent of the multiply-adds
  std::vector<std::string> given;  // the options of the command line

  // All of it; log sinks and how networks are compiled are the caller's. Throws Usage.
  QuantizeRequest whole_request() const;
};

void declare_quantize(cli::Args& args, QuantizeArgs& o);

}  // namespace dnn::quant
