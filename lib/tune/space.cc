// Spaces; see space.h.
#include "tune/space.h"

#include <algorithm>
#include <set>

namespace dnn::tune {

using codegen::ScheduleParameters;

int64_t Space::size() const {
  int64_t n = 1;
  for (const Axis& axis : axes) n *= static_cast<int64_t>(axis.values.size());
  return n;
}

ScheduleParameters Space::at(const Point& point) const {
  ScheduleParameters result;
  for (size_t i = 0; i < axes.size(); ++i)
    result.*axes[i].parameter->field = axes[i].values[static_cast<size_t>(point[i])];
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

Space space_of(const codegen::Workload& workload) {
  Space space;
  const std::string unchanged = workload.text({});
  for (const codegen::ScheduleParameter& parameter : codegen::schedule_parameters()) {
    Axis axis{&parameter, {parameter.values[0]}};
    std::set<std::string> texts = {unchanged};
    for (size_t i = 1; i < parameter.values.size(); ++i) {
      ScheduleParameters candidate;
      candidate.*parameter.field = parameter.values[i];
      if (texts.insert(workload.text(candidate)).second) axis.values.push_back(parameter.values[i]);
    }
    if (axis.values.size() > 1) space.axes.push_back(std::move(axis));
  }
  return space;
}

}  // namespace dnn::tune
