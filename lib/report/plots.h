// Plots: one function for each kind, from numbers and names to a drawing. Not finite numbers are left out.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/svg.h"

namespace dnn::report {

// How many of the items a figure shows well; sections split or leave out what is beyond, and say so.
inline constexpr size_t kMostStrips = 60, kStripsOfFigure = 24, kMostDots = 120;

// A series of its own for each run, one strip below the other, each with its own range of y, and beside it how often each value
// came. What is far above the rest is cut off and marked by a triangle.
struct Strip {
  std::string label;
  std::vector<double> values;
  std::vector<double> at;  // x of each value; empty: 1, 2, 3, ...
  int series = 0;
};
Drawing strips(const std::vector<Strip>& list, std::string_view unit, std::string_view x_title);

// A value with its interval on each row, on one axis; rows stand below the heading of their group.
struct Dot {
  std::string group, label;
  double value = 0;
  std::optional<double> low, high;
  int series = 0;
};
Drawing dots(const std::vector<Dot>& list, std::string_view x_title, const std::vector<std::string>& legend);

// Rows and columns of a heat map that have names; beyond, columns have none and rows those of their groups.
inline constexpr size_t kMostHeatNames = 40;

// Values of rows and columns as steps from light to dark, with the numbers in them where there is room.
struct Heat {
  std::vector<std::string> rows, columns;
  std::vector<std::optional<double>> cells;  // row by row
  const char* format = "%.0f";
  bool dark_is_low = false;  // then by the square root of the distance from the highest
  bool logarithmic = false;  // where all values are above 0
  size_t most_names = kMostHeatNames;
  std::string row_title, column_title, unit;
  std::vector<std::string> row_groups;  // of each row, or empty: named instead of the rows where those are too many
};
Drawing heat_map(const Heat& heat);

// Two values of each run with an interval of y; those on the front are filled and joined by steps.
struct ScatterPoint {
  std::string label, hint;
  double x = 0, y = 0;
  std::optional<double> y_low, y_high;
  bool front = false;
  int series = 0;
};
Drawing scatter(const std::vector<ScatterPoint>& points, std::string_view x_title, std::string_view y_title,
                const std::vector<std::string>& legend);

// Values that are 0 or spread over many powers of ten, in their order: stems up from the least.
struct Stem {
  std::string label;
  double value = 0;
  int series = 0;
};
Drawing stems(const std::vector<Stem>& list, std::string_view x_title, std::string_view y_title,
              const std::vector<std::string>& legend);

// Channels of a layer of two networks, a row for each: what the one computes and what the other does, on one scale from light to
// dark, and their difference, on one from blue over white to orange. Row by row from the top; nullopt: no finite number.
struct MapRow {
  std::string label;
  size_t columns = 0;
  std::vector<std::optional<double>> source, target, difference;
};
Drawing activation_maps(const std::vector<MapRow>& rows);

// Boxes from a beginning on, each on its row: bars, or who worked when.
struct Bar {
  size_t row = 0;
  double begin = 0, length = 0;
  int series = 0;
};
Drawing bars(const std::vector<std::string>& rows, const std::vector<Bar>& list, std::string_view x_title,
             const std::vector<std::string>& legend);

// The shares that lie below, of sorted or unsorted values: linear between the two nearest, as numpy's default.
double quantile(std::vector<double> values, double q);

}  // namespace dnn::report
