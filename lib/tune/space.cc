// Spaces; see space.h.
#include "tune/space.h"

#include <algorithm>

namespace dnn::tune {

using codegen::ScheduleParameters;

int64_t Space::size() const {
  int64_t n = 1;
  for (const Axis& axis : axes) n *= static_cast<int64_t>(axis.values.size());
  return n;
}

ScheduleParameters Space::at(const Point& point) const {
  ScheduleParameters result;
  for (size_t i = 0; i < axes.size(); ++i) result.*axes[i].parameter->field = axes[i].values[point[i]];
  return result;
}

std::optional<Point> Space::point_of(const ScheduleParameters& parameters) const {
  Point point;
  for (const Axis& axis : axes) {
    const auto value = std::find(axis.values.begin(), axis.values.end(), parameters.*axis.parameter->field);
    if (value == axis.values.end()) return std::nullopt;
    point.push_back(static_cast<int>(value - axis.values.begin()));
  }
  return at(point) == parameters ? std::optional(point) : std::nullopt;
}

Space whole_space() {
  Space space;
  for (const codegen::ScheduleParameter& parameter : codegen::schedule_parameters())
    space.axes.push_back({&parameter, parameter.values});
  return space;
}

}  // namespace dnn::tune
