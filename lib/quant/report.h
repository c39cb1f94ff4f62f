// Reports of quantising for people and programs.
#pragma once
#include <optional>
#include <string>

#include "quant/exclusions.h"
#include "quant/search.h"
#include "quant/sensitivity.h"

namespace dnn::quant {

// One line: how many operators compute on integers, what stayed in float32.
std::string summary_text(const QuantizeReport& report);
// One line: labels and top-1 before and after.
std::string validation_text(const Validation& validation);
// A table: each layer, worst first.
std::string sensitivity_text(const SensitivityReport& report);
// One line: how the inputs were split.
std::string split_text(const SearchResult& search);
// A table: the choices that no other beats in both labels and multiply-adds on integers.
std::string search_text(const SearchResult& search, const std::string& output);

struct Reports {
  std::vector<Excluded> excluded;
  QuantizeReport report;
  std::optional<Validation> validation;
  std::optional<SensitivityReport> sensitivity;
  std::optional<SearchResult> search;
};
// One line of JSON as schemas/quantize/report.schema.json has it.
std::string report_json(const Reports& reports);

}  // namespace dnn::quant
