// Histogram: how often a tensor's numbers fall where, in memory that does not grow with how many there are.
//
// Bins are equally wide and cover (-2^e, 2^e). A number beyond doubles the range: two bins become one, exactly, so that
// adding numbers or histograms in any order gives the same bins.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace dnn::quant {

// Two counts of samples or numbers together. Throws Malformed beyond 2^53, which no run reaches: a state holds such counts.
inline constexpr int64_t kMostCount = int64_t{1} << 53;
int64_t added(int64_t a, int64_t b);

class Histogram {
 public:
  static constexpr int kHalf = 4096;  // bins on each side of 0

  // The smallest and the largest of these; 0 where none is finite.
  std::pair<double, double> add(std::span<const float> values);
  void add(const Histogram& other);

  bool empty() const { return count_ == 0; }
  int64_t count() const { return count_; }            // finite numbers
  int64_t not_finite() const { return not_finite_; }  // NaN and infinite ones, which no bin holds
  double lowest() const { return low_; }              // the smallest and largest number; 0 where there is none
  double highest() const { return high_; }
  // Bins from the lowest number's to the highest's: the centre of each (within the extremes), and how many are in it.
  struct Bin {
    double centre;
    int64_t count;
  };
  std::vector<Bin> bins() const;
  double width() const;
  // Numbers that many may be, where a bin would have them spread over its width: 0, as ReLU makes it, and both extremes, as Clip does.
  std::vector<Bin> points() const;
  // bins() without the points.
  std::vector<Bin> bins_between() const;

  // All that a histogram is.
  struct Parts {
    int exponent = 0;
    double low = 0, high = 0;
    int64_t not_finite = 0;
    int64_t zeros = 0, at_low = 0, at_high = 0;  // 0 where they were not counted
    int64_t first = 0;                           // the bin of the first count
    std::vector<int64_t> counts;                 // from the first that is not 0 to the last
  };
  Parts parts() const;
  static Histogram of(const Parts& parts);  // throws Malformed for what parts() never gives

 private:
  void widen(int exponent);
  void count_points(double low, int64_t at_low, double high, int64_t at_high, int64_t zeros);

  int exponent_ = 0;
  double low_ = 0, high_ = 0;
  int64_t count_ = 0, not_finite_ = 0;
  int64_t zeros_ = 0, at_low_ = 0, at_high_ = 0;
  std::vector<int64_t> bins_;  // 2 * kHalf, empty until the first number
};

}  // namespace dnn::quant
