// The space of one workload's schedules, as a search sees it: axes of values, a point an index on each.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/generate.h"

namespace dnn::tune {

using Point = std::vector<int>;

struct Axis {
  const codegen::ScheduleParameter* parameter;
  std::vector<int64_t> values;  // the default first
};

struct Space {
  std::vector<Axis> axes;  // none: there is nothing to choose

  int64_t size() const;                                  // points in all
  Point start() const { return Point(axes.size(), 0); }  // the default
  codegen::ScheduleParameters at(const Point& point) const;
  // The point of `parameters`; none where the space does not hold it.
  std::optional<Point> point_of(const codegen::ScheduleParameters& parameters) const;
};

// Of each parameter those values that, alone, change the kernel's text, each text once.
Space space_of(const codegen::Workload& workload);

}  // namespace dnn::tune
