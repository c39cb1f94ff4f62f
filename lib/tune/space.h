// The space of schedules, as a search sees it: axes of values, a point an index on each.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/parameters.h"

namespace dnn::tune {

using Point = std::vector<int>;

struct Axis {
  const codegen::ScheduleParameter* parameter;
  std::vector<int64_t> values;  // the default first
};

struct Space {
  std::vector<Axis> axes;

  int64_t size() const;                                  // points in all
  Point start() const { return Point(axes.size(), 0); }  // the default
  codegen::ScheduleParameters at(const Point& point) const;
  // The point of `parameters`; none where the space does not hold it.
  std::optional<Point> point_of(const codegen::ScheduleParameters& parameters) const;
};

// All parameters with all of their values. What a kernel's schedule does not read, or cannot do, changes nothing in its text.
Space whole_space();

}  // namespace dnn::tune
