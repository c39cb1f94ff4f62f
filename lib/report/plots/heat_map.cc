// Heat map: a matrix as steps from light to dark; see plots.h.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/printable.h"
#include "base/text.h"
#include "report/axes.h"
#include "report/escape.h"
#include "report/palette.h"
#include "report/plots.h"

namespace dnn::report {
namespace {

constexpr double kMostWidth = 720;
constexpr size_t kLongestLabel = 44;  // characters

class HeatMap {
 public:
  explicit HeatMap(const Heat& heat) : heat_(heat), n_rows_(heat.rows.size()), n_columns_(heat.columns.size()) {
    for (const std::optional<double>& cell : heat.cells) {
      if (!cell || !std::isfinite(*cell)) continue;
      low_ = std::min(low_, *cell);
      high_ = std::max(high_, *cell);
    }
    const auto longest = [](const std::vector<std::string>& names) {
      double widest = 0;
      for (const std::string& name : names) widest = std::max(widest, text_width(shortened(name, kLongestLabel)));
      return widest;
    };
    rows_named_ = n_rows_ <= heat.most_names;
    columns_named_ = n_columns_ <= heat.most_names;
    logarithmic_ = heat.logarithmic && low_ > 0;
    left_ = 30 + longest(rows_named_ ? heat.rows : heat.row_groups);
    top_ = 32 + (columns_named_ ? std::max(14.0, longest(heat.columns) > 24 ? longest(heat.columns) : 14.0) : 0);
    turned_ = longest(heat.columns) > 24;
    const auto columns = static_cast<double>(std::max<size_t>(1, n_columns_));
    size_ = std::clamp((kMostWidth - left_) / columns, 4.0, 40.0);
    high_cell_ = std::min(size_, 26.0);
    if (size_ < 12) high_cell_ = size_;
  }

  Drawing draw() {
    const double bottom = top_ + static_cast<double>(n_rows_) * high_cell_;
    const double cells = left_ + static_cast<double>(n_columns_) * size_;
    drawing_ = Drawing(std::max({cells + 8, left_ + 8 * 24 + 32 + text_width(heat_.unit),
                                 left_ + (cells - left_ + text_width(heat_.column_title)) / 2}),
                       bottom + 56);
    drawing_.text({left_ + static_cast<double>(n_columns_) * size_ / 2, 12}, heat_.column_title, Anchor::Middle);
    drawing_.text({12, (top_ + bottom) / 2}, heat_.row_title, Anchor::Middle, Ink::Text, -90);
    draw_cells();
    rows_named_ ? draw_rows() : draw_groups();
    if (columns_named_) draw_columns();
    draw_key(bottom + 14);
    return std::move(drawing_);
  }

 private:
  int step(double value) const {
    if (logarithmic_) return step_of(std::log(value), std::log(low_), std::log(high_));
    return heat_.dark_is_low ? step_below(value, low_, high_) : step_of(value, low_, high_);
  }

  std::string text(double value) const {
    if (heat_.dark_is_low) {  // what is not all must not read so
      const double cut = std::floor(value * 10 + 1e-6) / 10;
      return number_text(cut, cut == std::floor(cut) ? "%.0f" : "%.1f");
    }
    const std::string result = number_text(value, heat_.format);
    const bool rounds_to_zero = result[0] == '-' && result.find_first_of("123456789") == std::string::npos;
    return rounds_to_zero ? result.substr(1) : result;
  }

  void draw_rows() {
    for (size_t i = 0; i < n_rows_; ++i)
      drawing_.label({left_ - 6, top_ + (static_cast<double>(i) + 0.5) * high_cell_ + 4}, heat_.rows[i], kLongestLabel,
                     Anchor::End);
  }

  void draw_columns() {
    for (size_t j = 0; j < n_columns_; ++j) {
      const double x = left_ + (static_cast<double>(j) + 0.5) * size_;
      if (turned_) {
        drawing_.label({x + 4, top_ - 6}, heat_.columns[j], kLongestLabel, Anchor::Start, Ink::Text, -90);
      } else {
        drawing_.label({x, top_ - 6}, heat_.columns[j], kLongestLabel, Anchor::Middle);
      }
    }
  }

  // The name of each group beside its rows, where it has room, and a mark where it begins.
  void draw_groups() {
    double free_from = 0;
    for (size_t i = 0; i < heat_.row_groups.size() && i < n_rows_; ++i) {
      if (i > 0 && heat_.row_groups[i] == heat_.row_groups[i - 1]) continue;
      size_t end = i;
      while (end < n_rows_ && heat_.row_groups[end] == heat_.row_groups[i]) ++end;
      const double y = top_ + static_cast<double>(i + end) / 2 * high_cell_ + 4;
      if (y - kTextSize >= free_from) {
        drawing_.label({left_ - 6, y}, heat_.row_groups[i], kLongestLabel, Anchor::End);
        free_from = y;
      }
      drawing_.line({left_ - 4, top_ + static_cast<double>(i) * high_cell_},
                    {left_ - 1, top_ + static_cast<double>(i) * high_cell_}, Ink::Axis);
    }
  }

  void draw_cells() {
    std::array<std::vector<PlotPoint>, kSteps> corners;
    const double gap = size_ > 12 ? 1 : 0;
    for (size_t i = 0; i < n_rows_; ++i) {
      for (size_t j = 0; j < n_columns_; ++j) {
        const std::optional<double>& cell = heat_.cells[i * n_columns_ + j];
        if (!cell || !std::isfinite(*cell)) continue;
        corners[step(*cell)].push_back(
            {left_ + static_cast<double>(j) * size_, top_ + static_cast<double>(i) * high_cell_});
      }
    }
    for (int k = 0; k < kSteps; ++k) drawing_.squares(corners[k], size_ - gap, high_cell_ - gap, k);
    for (size_t i = 0; i < n_rows_; ++i) {
      for (size_t j = 0; j < n_columns_; ++j) {
        const std::optional<double>& cell = heat_.cells[i * n_columns_ + j];
        if (!cell || !std::isfinite(*cell)) continue;
        std::string shown = text(*cell);
        if (text_width(shown) + 2 > size_ && logarithmic_ && *cell < 100) shown = number_text(*cell, "%.2g");
        if (text_width(shown) + 2 > size_ || high_cell_ < 14) continue;
        drawing_.step_text(
            {left_ + (static_cast<double>(j) + 0.5) * size_, top_ + (static_cast<double>(i) + 0.5) * high_cell_ + 4},
            shown, step(*cell));
      }
    }
  }

  void draw_key(double y) {
    if (!(low_ <= high_)) return;
    double x = left_;
    for (int k = 0; k < (low_ == high_ ? 1 : kSteps); ++k) {
      const int shown = low_ == high_ ? step(low_) : heat_.dark_is_low ? kSteps - 1 - k : k;
      drawing_.squares({{x, y}}, 24, 14, shown);
      x += 24;
    }
    drawing_.text({left_, y + 30}, text(low_), Anchor::Start, Ink::Quiet);
    if (low_ == high_) return;
    const double middle = logarithmic_        ? std::sqrt(low_ * high_)
                          : heat_.dark_is_low ? high_ - 0.25 * (high_ - low_)
                                              : (low_ + high_) / 2;
    drawing_.text({(left_ + x) / 2, y + 30}, text(middle), Anchor::Middle, Ink::Quiet);
    drawing_.text({x, y + 30}, text(high_), Anchor::Middle, Ink::Quiet);
    drawing_.text({x + 24, y + 12}, heat_.unit, Anchor::Start, Ink::Quiet);
  }

  const Heat& heat_;
  size_t n_rows_, n_columns_;
  Drawing drawing_;
  double low_ = INFINITY, high_ = -INFINITY;
  bool rows_named_ = true, columns_named_ = true, turned_ = false, logarithmic_ = false;
  double left_ = 0, top_ = 0, size_ = 20, high_cell_ = 20;
};

}  // namespace

Drawing heat_map(const Heat& heat) { return HeatMap(heat).draw(); }

}  // namespace dnn::report
