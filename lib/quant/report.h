// Reports of quantising for people and programs.
#pragma once
#include <optional>
#include <string>

#include "quant/quantize.h"
#include "quant/validate.h"

namespace dnn::quant {

// One line: how many operators compute on integers, what stayed in float32.
std::string summary_text(const QuantizeReport& report);
// One line: labels and top-1 before and after.
std::string validation_text(const Validation& validation);
// One line of JSON as schemas/quantize/report.schema.json has it.
std::string report_json(const QuantizeReport& report, const std::optional<Validation>& validation);

}  // namespace dnn::quant
