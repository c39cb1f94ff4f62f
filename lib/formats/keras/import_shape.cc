// Layers that move elements.
#include <algorithm>

#include "formats/keras/layers.h"

namespace dnn::keras {
namespace {

// What goes before and behind each of n spatial axes: an integer, one per axis, or a pair per axis.
std::vector<std::pair<int64_t, int64_t>> borders(Call& call, const char* key, size_t n, int64_t fallback) {
  const auto whole = [&](const Json& v) {
    if (!v.is_number_integer() || v.get<int64_t>() < 0 || v.get<int64_t>() > INT32_MAX)
      call.fail("'", key, "' is no border");
    return v.get<int64_t>();
  };
  const Json& v = call.option(key);
  if (v.is_null()) return std::vector<std::pair<int64_t, int64_t>>(n, {fallback, fallback});
  if (v.is_number()) return std::vector<std::pair<int64_t, int64_t>>(n, {whole(v), whole(v)});
  if (!v.is_array()) call.fail("'", key, "' is no list");
  const bool pair = n == 1 && v.size() == 2 && v[0].is_number();     // (left, right)
  const bool corners = n == 2 && v.size() == 4 && v[0].is_number();  // Keras 1: (top, bottom, left, right)
  std::vector<std::pair<int64_t, int64_t>> result;
  if (pair) return {{whole(v[0]), whole(v[1])}};
  if (corners) return {{whole(v[0]), whole(v[1])}, {whole(v[2]), whole(v[3])}};
  if (v.size() != n) call.fail("'", key, "' has ", v.size(), " entries, not ", n);
  for (const Json& item : v) {
    if (item.is_number()) {
      result.emplace_back(whole(item), whole(item));
    } else if (item.is_array() && item.size() == 2) {
      result.emplace_back(whole(item[0]), whole(item[1]));
    } else {
      call.fail("'", key, "' is no border");
    }
  }
  return result;
}

ValueId spatial(Call& call, size_t n) {
  const ValueId x = call.x();
  if (call.rank(x) != static_cast<int64_t>(n) + 2) call.fail("its input has rank ", call.rank(x), ", not ", n + 2);
  return x;
}

}  // namespace

template <size_t n>
ValueId import_zero_padding(Call& call) {
  const ValueId x = spatial(call, n);
  const size_t first = call.channels_first() ? 2 : 1;
  std::vector<int64_t> pads(2 * (n + 2));
  const auto border = borders(call, "padding", n, 1);
  for (size_t i = 0; i < n; ++i) {
    pads[first + i] = border[i].first;
    pads[first + i + n + 2] = border[i].second;
  }
  return call.emit("Pad", {x, call.list(pads)});
}
template ValueId import_zero_padding<1>(Call&);
template ValueId import_zero_padding<2>(Call&);
template ValueId import_zero_padding<3>(Call&);

template <size_t n>
ValueId import_cropping(Call& call) {
  const ValueId x = spatial(call, n);
  std::vector<int64_t> begin, end, axes;
  const auto border = borders(call, "cropping", n, n == 1 ? 1 : 0);
  for (size_t i = 0; i < n; ++i) {
    axes.push_back(static_cast<int64_t>(i) + (call.channels_first() ? 2 : 1));
    begin.push_back(border[i].first);
    end.push_back(border[i].second == 0 ? INT32_MAX : -border[i].second);
  }
  return call.emit("Slice", {x, call.list(begin), call.list(end), call.list(axes)});
}
template ValueId import_cropping<1>(Call&);
template ValueId import_cropping<2>(Call&);
template ValueId import_cropping<3>(Call&);

// With channels first they are moved to the end before.
ValueId import_flatten(Call& call) {
  ValueId x = call.x();
  const int64_t rank = call.rank(x);
  if (call.channels_first() && rank > 2 && call.version() > 1) {
    Permutation perm = {0};
    for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
    perm.push_back(1);
    x = call.transpose(x, perm);
  }
  return call.emit("Flatten", {x}, {{"axis", int64_t{1}}});
}

ValueId import_reshape(Call& call) {
  const ValueId x = call.x();
  std::vector<int64_t> shape = {0};  // as many as come
  for (int64_t extent : call.list_option("target_shape")) {
    if (extent == 0) call.refuse("an extent of 0");
    shape.push_back(extent);
  }
  return call.emit("Reshape", {x, call.list(shape)});
}

ValueId import_permute(Call& call) {
  const ValueId x = call.x();
  Permutation perm = {0};
  for (int64_t axis : call.list_option("dims")) perm.push_back(axis);
  Permutation sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i) || static_cast<int64_t>(sorted.size()) != call.rank(x))
      call.fail("dims that are no order of axes");
  }
  return call.transpose(x, perm);
}

ValueId import_repeat_vector(Call& call) {
  const ValueId x = call.x();
  if (call.rank(x) != 2) call.fail("its input has rank ", call.rank(x), ", not 2");
  const int64_t n = call.integer("n", 1);
  if (n < 1 || n > INT32_MAX) call.fail(n, " repetitions");
  return call.emit("Tile", {call.emit("Unsqueeze", {x, call.list({1})}), call.list({1, n, 1})});
}

}  // namespace dnn::keras
