// Tuners: which schedule to try next. Each is a row of tuners(), a function of what was tried so far.
#pragma once
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tune/space.h"

namespace dnn::tune {

struct Trial {
  Point point;
  double cost;  // its time over the default's, measured side by side
};

// One workload's search.
struct Search {
  std::string pattern;  // "conv": workloads of one pattern tell a model about each other
  Space space;
  std::set<Point> tried;
  std::vector<Trial> trials;

  // The fastest so far, the default before all others; none before the first trial.
  const Trial* best() const;
};

struct Tuner {
  const char* name;
  const char* help;
  // A point of searches[which] that was not tried; none when all were.
  std::optional<Point> (*propose)(const std::vector<Search>& searches, size_t which, std::mt19937_64& random);
};

// random, grid, genetic, model.
const std::vector<Tuner>& tuners();
// Throws Usage for a name that is none of them.
const Tuner& find_tuner(const std::string& name);

}  // namespace dnn::tune
