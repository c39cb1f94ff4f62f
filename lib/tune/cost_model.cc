// The model's fit; see cost_model.h.
#include "tune/cost_model.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>

namespace dnn::tune {
namespace {

std::pair<std::string, int64_t> key_of(const Axis& axis, size_t value) {
  return {axis.parameter->name, axis.values[value]};
}

}  // namespace

CostModel::CostModel(const std::vector<Search>& searches, size_t which) : search_(searches[which]) {
  constexpr double kShared = 3, kOwn = 1;  // how strongly terms are drawn to 0
  std::vector<double> penalties;
  for (const Search& search : searches) {
    if (search.pattern != search_.pattern) continue;
    for (const Axis& axis : search.space.axes) {
      for (size_t v = 0; v < axis.values.size(); ++v) {
        if (shared_.try_emplace(key_of(axis, v), penalties.size()).second) penalties.push_back(kShared);
        if (&search != &search_) continue;
        own_.emplace(key_of(axis, v), penalties.size());
        penalties.push_back(kOwn);
      }
    }
  }
  const auto n = static_cast<Eigen::Index>(penalties.size());
  Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(n);
  for (const Search& search : searches) {
    if (search.pattern != search_.pattern) continue;
    for (const Trial& trial : search.trials) {
      const std::vector<size_t> at = terms(search, trial.point, &search == &search_);
      for (size_t a : at) {
        right(static_cast<Eigen::Index>(a)) += std::log(trial.cost);
        for (size_t b : at) normal(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) += 1;
      }
    }
  }
  for (Eigen::Index i = 0; i < n; ++i) normal(i, i) += penalties[i];
  const Eigen::VectorXd solution = normal.ldlt().solve(right);
  weights_.assign(solution.data(), solution.data() + n);
}

std::vector<size_t> CostModel::terms(const Search& search, const Point& point, bool own) const {
  std::vector<size_t> result;
  for (size_t i = 0; i < search.space.axes.size(); ++i) {
    const auto key = key_of(search.space.axes[i], point[i]);
    result.push_back(shared_.at(key));
    if (own) result.push_back(own_.at(key));
  }
  return result;
}

double CostModel::cost(const Point& point) const {
  double sum = 0;
  for (size_t term : terms(search_, point, true)) sum += weights_[term];
  return std::exp(sum);
}

}  // namespace dnn::tune
