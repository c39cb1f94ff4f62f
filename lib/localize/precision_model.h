// Precision of a model file's layers as a command line asks for it, and the report for people and programs.
#pragma once
#include <optional>
#include <string>

#include "localize/one_model.h"
#include "localize/precision.h"

namespace dnn {

struct PrecisionRequest : OneModelRequest {
  NetworkOptions network;   // of which device, shapes and trust count
  PrecisionOptions search;  // device, compile and threads are set from the rest
};

struct JudgedPrecision {
  std::string model, device;
  std::optional<LabelSet> labels;
  PrecisionReport report;
  NotJudged not_judged = {};  // of the samples that were given
};

// Float16, BFloat16 or Int8 of its name; throws Usage for another.
DType precision_dtype(const std::string& name);

// Throws Usage, and what reading, compiling and the devices throw.
JudgedPrecision judge_precision_of(const PrecisionRequest& request);

// What all layers rounded at once do, which must stay in float32, and the layers, worst first (`top` of them; 0: all), as a table; ends with
// a newline.
std::string precision_text(const JudgedPrecision& judged, int64_t top);

// {"model", "dtype", "samples", "layers": [...], "rounded", "keeps", "trials", ...} on one line.
std::string precision_json(const JudgedPrecision& judged);

// A header and a row for each layer, worst first; docs/reference/localize-output.md describes the columns.
std::string precision_csv(const JudgedPrecision& judged);

}  // namespace dnn
