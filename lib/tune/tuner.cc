// The tuners; see tuner.h. Draws are integers modulo a count, so that a seed means the same with every standard library.
#include "tune/tuner.h"

#include <algorithm>

#include "base/error.h"
#include "tune/cost_model.h"

namespace dnn::tune {
namespace {

using Random = std::mt19937_64;

size_t below(Random& random, size_t n) { return static_cast<size_t>(random() % n); }

Point draw(const Space& space, Random& random) {
  Point point;
  for (const Axis& axis : space.axes) point.push_back(static_cast<int>(below(random, axis.values.size())));
  return point;
}

// The n-th point, the last axis fastest.
Point nth(const Space& space, int64_t n) {
  Point point(space.axes.size());
  for (size_t i = space.axes.size(); i-- > 0;) {
    const auto extent = static_cast<int64_t>(space.axes[i].values.size());
    point[i] = static_cast<int>(n % extent);
    n /= extent;
  }
  return point;
}

std::optional<Point> propose_grid(const std::vector<Search>& searches, size_t which, Random&) {
  const Search& search = searches[which];
  for (int64_t n = 0; n < search.space.size(); ++n) {
    if (Point point = nth(search.space, n); search.tried.count(point) == 0) return point;
  }
  return std::nullopt;
}

std::optional<Point> propose_random(const std::vector<Search>& searches, size_t which, Random& random) {
  constexpr int kDraws = 64;
  const Search& search = searches[which];
  for (int i = 0; i < kDraws; ++i) {
    if (Point point = draw(search.space, random); search.tried.count(point) == 0) return point;
  }
  return propose_grid(searches, which, random);  // few are left
}

// Parents from the fastest trials, each axis from one of them, and a change now and then (Holland, Adaptation in Natural
// and Artificial Systems, 1975).
std::optional<Point> propose_genetic(const std::vector<Search>& searches, size_t which, Random& random) {
  constexpr size_t kFirst = 6, kParents = 8;
  constexpr int kDraws = 64;
  const Search& search = searches[which];
  if (search.trials.size() < kFirst) return propose_random(searches, which, random);
  std::vector<Trial> parents = search.trials;
  std::stable_sort(parents.begin(), parents.end(), [](const Trial& a, const Trial& b) { return a.cost < b.cost; });
  parents.resize(std::min(parents.size(), kParents));
  const size_t axes = search.space.axes.size();
  for (int i = 0; i < kDraws; ++i) {
    const Point &a = parents[below(random, parents.size())].point, &b = parents[below(random, parents.size())].point;
    Point child(axes);
    for (size_t k = 0; k < axes; ++k) {
      child[k] = random() % 2 == 0 ? a[k] : b[k];
      if (below(random, axes) == 0) child[k] = static_cast<int>(below(random, search.space.axes[k].values.size()));
    }
    if (search.tried.count(child) == 0) return child;
  }
  return propose_random(searches, which, random);
}

// What a model fitted to all trials expects to be fastest, among the neighbours of the best and points drawn at random;
// now and then a point drawn at random, so that the model learns of what it does not expect.
std::optional<Point> propose_by_model(const std::vector<Search>& searches, size_t which, Random& random) {
  constexpr size_t kDraws = 256, kExplore = 8;
  const Search& search = searches[which];
  if (below(random, kExplore) == 0 || search.trials.empty()) return propose_random(searches, which, random);
  std::vector<Point> candidates;
  const Point& best = search.best()->point;
  for (size_t k = 0; k < best.size(); ++k) {
    for (size_t v = 0; v < search.space.axes[k].values.size(); ++v) {
      candidates.push_back(best);
      candidates.back()[k] = static_cast<int>(v);
    }
  }
  for (size_t i = 0; i < kDraws; ++i) candidates.push_back(draw(search.space, random));
  const CostModel model(searches, which);
  const Point* chosen = nullptr;
  double least = 0;
  for (const Point& point : candidates) {
    if (search.tried.count(point) != 0) continue;
    const double cost = model.cost(point);
    if (chosen == nullptr || cost < least) chosen = &point, least = cost;
  }
  return chosen != nullptr ? std::optional(*chosen) : propose_random(searches, which, random);
}

}  // namespace

const Trial* Search::best() const {
  const auto least =
      std::min_element(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) { return a.cost < b.cost; });
  return least == trials.end() ? nullptr : &*least;
}

const std::vector<Tuner>& tuners() {
  static const std::vector<Tuner> table = {
      {"random", "points drawn at random", propose_random},
      {"grid", "one after another, the last axis fastest", propose_grid},
      {"genetic", "crossed and changed from the fastest so far", propose_genetic},
      {"model", "what a linear model of all trials expects to be fastest", propose_by_model},
  };
  return table;
}

const Tuner& find_tuner(const std::string& name) {
  std::vector<std::string> names;
  for (const Tuner& tuner : tuners()) {
    if (tuner.name == name) return tuner;
    names.emplace_back(tuner.name);
  }
  fail_usage("there is no tuner ", name, ": choose from ", join(names));
}

}  // namespace dnn::tune
