// Means over the classes: precision, sensitivity, F1, balanced accuracy, G-mean; and Matthews' correlation coefficient.
#include <cmath>

#include "metrics/confusion.h"
#include "metrics/metric.h"

namespace dnn::metrics {
namespace {

class Classes : public RunMetric {
 public:
  void add(const Outcome& outcome) override {
    if (outcome.truth && !outcome.labels.empty()) tally_.add(*outcome.truth, outcome.labels[0].item());
  }

  void result(Values* values) const override {
    const std::vector<ClassCounts> classes = tally_.classes();
    if (classes.empty()) return;
    double precision = 0, sensitivity = 0, f1 = 0, logs = 0, n_true_classes = 0;
    double n = 0, n_right = 0, true_squares = 0, predicted_squares = 0, products = 0;
    for (const ClassCounts& c : classes) {
      const auto n_true = static_cast<double>(c.n_true), n_predicted = static_cast<double>(c.n_predicted);
      precision += c.precision().value_or(0);
      sensitivity += c.sensitivity().value_or(0);
      f1 += c.f1();
      if (c.n_true > 0) {
        ++n_true_classes;
        logs += std::log(*c.sensitivity());  // -inf where it is 0, which makes the mean 0
      }
      n += n_true;
      n_right += static_cast<double>(c.n_both);
      true_squares += n_true * n_true;
      predicted_squares += n_predicted * n_predicted;
      products += n_true * n_predicted;
    }
    const double percent = 100.0 / static_cast<double>(classes.size());
    (*values)["macro_precision"] = percent * precision;
    (*values)["macro_sensitivity"] = percent * sensitivity;
    (*values)["macro_f1"] = percent * f1;
    (*values)["balanced_accuracy"] = 100.0 * sensitivity / n_true_classes;
    (*values)["g_mean"] = 100.0 * std::exp(logs / n_true_classes);
    // Gorodkin: Comparing two K-category assignments by a K-category correlation coefficient, Comput. Biol. Chem. 2004.
    const double spread = (n * n - true_squares) * (n * n - predicted_squares);
    (*values)["matthews"] = spread > 0 ? (n * n_right - products) / std::sqrt(spread) : 0;
  }

 private:
  ClassTally tally_;
};

}  // namespace

std::unique_ptr<RunMetric> make_classes() { return std::make_unique<Classes>(); }

}  // namespace dnn::metrics
