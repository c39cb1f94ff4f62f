// Choosing channels and making their maps; see activation_maps.h.
#include "localize/activation_maps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "localize/words.h"

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;

// Element (c, y, x) of a tensor is at c * channel + y * row + x * column.
struct Planes {
  int64_t n_channels = 0, height = 0, width = 0;
  int64_t channel = 0, row = 0, column = 0;
};

std::optional<Planes> planes_of(const Shape& shape) {
  std::vector<int64_t> e(shape.begin(), shape.end());
  if (e.size() == 4 && e[0] == 1) e.erase(e.begin());
  if (e.size() != 3 || *std::min_element(e.begin(), e.end()) < 1) return std::nullopt;
  Planes p;
  if (e[0] == e[1] && e[1] != e[2] && e[0] > 1) {
    p = {e[2], e[0], e[1], 1, e[1] * e[2], e[2]};
  } else {
    p = {e[0], e[1], e[2], e[1] * e[2], e[2], 1};
  }
  if (p.height * p.width < 2) return std::nullopt;
  return p;
}

class Maker {
 public:
  Maker(const Planes& planes, const Tensor& source, const Tensor& target)
      : p_(planes),
        source_(to_doubles(source)),
        target_(to_doubles(target)),
        rows_(std::min(p_.height, kMostMapExtent)),
        columns_(std::min(p_.width, kMostMapExtent)) {}

  ActivationMaps make() const {
    std::vector<double> squares(p_.n_channels, 0);
    for (size_t c = 0; c < squares.size(); ++c) {
      for (int64_t y = 0; y < p_.height; ++y) {
        for (int64_t x = 0; x < p_.width; ++x) {
          const double d = difference(at(static_cast<int64_t>(c), y, x));
          squares[c] += std::isfinite(d) ? d * d : std::numeric_limits<double>::infinity();
        }
      }
    }
    std::vector<size_t> order(squares.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return squares[a] > squares[b]; });
    ActivationMaps maps = {p_.n_channels, p_.height, p_.width, rows_, columns_, {}};
    for (size_t i = 0; i < std::min(order.size(), kMostMapChannels) && squares[order[i]] > 0; ++i)
      maps.channels.push_back(channel(static_cast<int64_t>(order[i])));
    return maps;
  }

 private:
  size_t at(int64_t c, int64_t y, int64_t x) const { return c * p_.channel + y * p_.row + x * p_.column; }
  // 0 where both are the same infinity, or NaN.
  double difference(size_t i) const {
    const double a = source_[i], b = target_[i];
    return a == b || (std::isnan(a) && std::isnan(b)) ? 0 : a - b;
  }

  ChannelMaps channel(int64_t c) const {
    ChannelMaps maps;
    maps.channel = c;
    for (int64_t r = 0; r < rows_; ++r) {
      for (int64_t k = 0; k < columns_; ++k) {
        double a = 0, b = 0, d = 0;
        const auto take = [](double value, double* largest) {
          if (std::isnan(*largest) || std::abs(value) <= std::abs(*largest)) return;
          *largest = value;  // NaN too, which is not <=
        };
        for (int64_t y = r * p_.height / rows_; y < (r + 1) * p_.height / rows_; ++y) {
          for (int64_t x = k * p_.width / columns_; x < (k + 1) * p_.width / columns_; ++x) {
            const size_t i = at(c, y, x);
            take(source_[i], &a);
            take(target_[i], &b);
            take(difference(i), &d);
          }
        }
        maps.source.push_back(static_cast<float>(a));
        maps.target.push_back(static_cast<float>(b));
        maps.difference.push_back(static_cast<float>(d));
        maps.max_abs = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(maps.max_abs, std::abs(d));
      }
    }
    return maps;
  }

  const Planes& p_;
  std::vector<double> source_, target_;
  int64_t rows_, columns_;
};

double largest_of(const std::vector<float>& values) {
  double largest = 0;
  for (const float v : values) largest = std::isfinite(v) ? std::max(largest, std::abs(double{v})) : largest;
  return largest;
}

Json rows_json(const std::vector<float>& values, int64_t columns, double largest) {
  constexpr double kSteps = 127;
  Json rows = Json::array();
  for (size_t i = 0; i < values.size(); ++i) {
    if (i % static_cast<size_t>(columns) == 0) rows.push_back(Json::array());
    const double share = largest > 0 ? values[i] / largest : 0;
    rows.back().push_back(std::isfinite(values[i]) ? Json(std::lround(kSteps * share)) : Json());
  }
  return rows;
}

}  // namespace

std::optional<ActivationMaps> activation_maps(const Tensor& source, const Tensor& target) {
  const auto is_number = [](DType dtype) { return is_float(dtype) || is_integer(dtype); };
  if (source.shape() != target.shape() || !is_number(source.dtype()) || !is_number(target.dtype())) return std::nullopt;
  const std::optional<Planes> planes = planes_of(source.shape());
  if (!planes) return std::nullopt;
  ActivationMaps maps = Maker(*planes, source, target).make();
  return maps.channels.empty() ? std::nullopt : std::optional(std::move(maps));
}

Json shown_maps_json(const ShownMaps& shown) {
  const ActivationMaps& maps = shown.maps;
  Json channels = Json::array();
  for (const ChannelMaps& c : maps.channels) {
    const double largest = std::max(largest_of(c.source), largest_of(c.target));
    const double largest_difference = largest_of(c.difference);
    channels.push_back({{"channel", c.channel},
                        {"max_abs", words::json_number(c.max_abs)},
                        {"largest", largest},
                        {"largest_difference", largest_difference},
                        {"source", rows_json(c.source, maps.columns, largest)},
                        {"target", rows_json(c.target, maps.columns, largest)},
                        {"difference", rows_json(c.difference, maps.columns, largest_difference)}});
  }
  return {{"finding", shown.finding ? Json(*shown.finding) : Json()},
          {"layer", shown.layer},
          {"sample", shown.sample},
          {"channels_of_layer", maps.n_channels},
          {"height", maps.height},
          {"width", maps.width},
          {"channels", channels}};
}

}  // namespace dnn
