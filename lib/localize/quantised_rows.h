// Rows of quantised weights and biases against the source's numbers: which are wrong, and by what.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "localize/quantised_layers.h"
#include "localize/quantised_order.h"

namespace dnn {

// Two scales of one quantity, each rounded to float32, some by way of a product of others.
inline constexpr double kSameScale = 2e-3;
inline constexpr double kHalfStep = 0.502;    // rounding to nearest, scales and weights rounded to float32
inline constexpr double kFoldedError = 4e-6;  // of a row's largest weight: a batch norm that was folded in float32

double largest_weight(const WeightRows& rows, size_t row);
// Tells whether an integer at an end may stand for a weight that is beyond. `at`: of the integers.
bool clipped(const QuantisedConstant& weights, size_t at, double ours, double theirs);

struct RowsJudged {
  std::vector<size_t> wrong;  // rows
  size_t n_adaptive = 0;      // rows that are right to a whole step and not to half of one
  double times = 0;           // the largest error, in what is allowed
};
RowsJudged judge_rows(const WeightRows& ours, const WeightRows& theirs, const QuantisedConstant& weights,
                      bool adaptive);

// Tells what is wrong, in words, and how an Edit of kind Quantised mends it.
struct WeightDiagnosis {
  std::string what, fix;
  std::string_view key = "integers";
  std::vector<double> numbers;  // of "scale", "zero point", "axis"
  std::vector<size_t> rows;     // of "integers"
  IntegerOrder order;           // of "order"
};
// A number of a bias, the source's and as the integer and the scales that are there have it.
struct RowBias {
  double ours = 0, theirs = 0, step = 0;
};
// Tells what else is known of weights whose rows are wrong.
struct RowsEvidence {
  const RowsJudged& judged;
  bool adaptive = false;
  std::vector<double> errors;   // by place in our rows: what a number may be off by, of itself; empty: nothing
  std::vector<double> scales;   // by row: those that the bias was made for, over its input's; empty: not known
  std::vector<RowBias> biases;  // by row, where its scale is the product of those that are there; empty: not known
};
WeightDiagnosis diagnose_weights(const HeldRows& held, const RowsEvidence& evidence, const Graph& target);

struct BiasDiagnosis : WeightDiagnosis {
  double factor = 1, times = 0;
};
// `what` is empty where every number is within what is allowed.
BiasDiagnosis diagnose_bias(const std::vector<double>& ours, const std::vector<double>& theirs,
                            const std::vector<double>& steps, const std::vector<double>& allowed);

// `what` is empty where its scales are these products, the input's scale times those of the weights, and where they may rightly be
// others: its integers do not mean the source's numbers by the products.
BiasDiagnosis diagnose_bias_scale(const std::vector<double>& ours, const QuantisedConstant& bias,
                                  const std::vector<double>& products);

}  // namespace dnn
