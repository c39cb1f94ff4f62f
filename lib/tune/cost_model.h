// A linear model of how long schedules take, fitted to the trials so far.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tune/tuner.h"

namespace dnn::tune {

// The logarithm of a cost is a sum over the axes of a term for the value there, which all workloads of the pattern share,
// and one of the workload's own: ridge regression, in which the terms of its own are held back less (Hoerl and Kennard,
// 1970).
class CostModel {
 public:
  // For searches[which], from the trials of all searches of its pattern.
  CostModel(const std::vector<Search>& searches, size_t which);

  double cost(const Point& point) const;  // of searches[which]

 private:
  using Key = std::pair<std::string, int64_t>;  // parameter, value
  std::vector<size_t> terms(const Search& search, const Point& point, bool own) const;

  const Search& search_;
  std::map<Key, size_t> shared_, own_;  // where a value's terms are
  std::vector<double> weights_;
};

}  // namespace dnn::tune
