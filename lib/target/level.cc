// The table of levels; see level.h.
#include "target/level.h"

#include <algorithm>

namespace dnn {

const std::vector<Level>& levels() {
  static const std::vector<Level> rows = {
#define DNN_LEVEL(number_, ...) {.number = number_ __VA_OPT__(, ) __VA_ARGS__},
#include "target/levels.def"
#undef DNN_LEVEL
  };
  return rows;
}

const Level* find_level(int number) {
  return number < 0 || number >= static_cast<int>(levels().size()) ? nullptr : &levels()[number];
}

const Level& level_of(int number) {
  return *find_level(std::clamp(number, levels().front().number, levels().back().number));
}

}  // namespace dnn
