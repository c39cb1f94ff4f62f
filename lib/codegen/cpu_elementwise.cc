// Kernels without a reduction of their own on CPUs: maps, transpositions, copies, borders; see cpu_patterns.h.
#include <algorithm>
#include <functional>

#include "codegen/cpu_patterns.h"
#include "codegen/inner_loops.h"
#include "codegen/loop_order.h"
#include "loops/simplify.h"

namespace dnn::codegen::cpu {
namespace {

using namespace loops;

// Positions of a copy, about, for which all channels come before the next positions.
constexpr int64_t kCopiedPositions = 32;

// A transposition: where the innermost loop strides through what another loop reads side by side, a block of the other
// goes inside, so that a line is read once and its neighbours stay in the L1 cache. None where there is none.
std::optional<Nest> share_lines(const Nest& given, const std::vector<std::string>& nest) {
  const Ranges ranges = loop_ranges(given.body);
  const std::string& v = nest.back();
  const auto strides = [&](const std::string& loop, const std::function<bool(const Access&, int64_t)>& good) {
    for (const Access& access : accesses(given.body)) {
      int64_t step = 0;
      if (!steps(access, loop, ranges, &step) || !good(access, step)) return false;
    }
    return true;
  };
  const int64_t line = 64 / given.bytes();
  if (!strides(v, [&](const Access& a, int64_t step) { return a.is_store ? step == 1 : step >= line; }))
    return std::nullopt;
  for (const std::string& u : nest) {
    if (u == v || given.extent(u) % line != 0 || !given.holds(u, v)) continue;
    if (!strides(u, [](const Access& a, int64_t step) { return a.is_store || step == 1; })) continue;
    Nest result = given;
    if (result.extent(u) > line) result.body = split(result.body, u, line);
    const std::string inner = result.extent(u) > 0 ? u : u + "_i";
    result.body = with_kind(move_inside(result.body, inner, v), inner, LoopKind::Unrolled);
    result.own_loop = v;
    return result;
  }
  return std::nullopt;
}

// The last loop over channels whose blocks the innermost loop goes from one to the next of, "" where there is none.
std::string loop_over_channels(const Nest& given, const std::vector<std::string>& nest) {
  const std::string& v = nest.back();
  const Ranges ranges = loop_ranges(given.body);
  std::string channels;
  for (const Access& access : accesses(given.body)) {
    int64_t step = 0;
    if (!steps(access, v, ranges, &step) || step < 64 / given.bytes()) continue;
    for (size_t axis = 0; axis < access.indices.size(); ++axis) {
      if (access.buffer->layout.block_of(static_cast<int>(axis)) == 1) continue;
      for (const std::string& u : nest) channels = u != v && uses_variable(access.indices[axis], u) ? u : channels;
    }
  }
  return channels;
}

// A copy from or to blocks of channels that no vectors fit: where the innermost loop goes from block to block, all channels
// of a few positions come before the next positions, so that each line is used while it is in the L1 cache.
Stmt stay_in_blocks(const Nest& given, const std::vector<std::string>& nest) {
  const std::string& v = nest.back();
  const std::string channels = loop_over_channels(given, nest);
  const int64_t extent = given.extent(v);
  int64_t positions = std::min(extent, kCopiedPositions);
  while (extent % positions != 0) --positions;
  if (channels.empty() || positions * 4 < std::min(extent, kCopiedPositions)) return given.body;
  const std::string around = positions < extent ? v + "_o" : nest[nest.size() - 2];
  if (around == channels) return given.body;
  return move_inside(positions < extent ? split(given.body, v, positions) : given.body, channels, around);
}

// v, along which a block of `width` channels lies, in vectors.
std::optional<Nest> block_loop(const Nest& given, const std::string& v, int64_t width) {
  const std::string innermost = nest_variables(given.body).back(), lane = v + "_i";
  Nest nest = pack_constants(given, {.v = v, .width = width});
  if (room_for_padding(nest.body, v, width)) {
    nest.body = split_padded(nest.body, v, width);
  } else if (nest.extent(v) % width == 0) {
    nest.body = split(nest.body, v, width);
  } else {
    return std::nullopt;
  }
  if (innermost != v) nest.move_inside(lane, innermost);
  nest.body = simplify(nest.body);
  if (nest.extent(lane) == 0 || !vectorises(nest.body, lane, nest.dtype, loop_ranges(nest.body))) return std::nullopt;
  nest.body = jam(nest.body, lane, LoopKind::Vector);
  return nest;
}

}  // namespace

Nest elementwise(Nest nest) {
  if (std::optional<Nest> blocks = blocked_channels(nest)) return *blocks;
  if (nest.kernel.pattern == "map") nest.body = in_order_of_reading(fuse_contiguous(nest.body));
  const std::vector<std::string> loops = nest_variables(nest.body);
  if (loops.empty() || !nest.in_vectors()) return nest;
  if (std::optional<Nest> lines = share_lines(nest, loops)) return *lines;
  const std::string& v = loops.back();
  if (nest.extent(v) < 4 || !vectorises(nest.body, v, nest.dtype, loop_ranges(nest.body))) {
    nest.body = vectorise_inner(stay_in_blocks(nest, loops), nest.dtype, nest.lanes(), nest.level().reassociate);
    return nest;
  }
  std::vector<std::string> vectors;
  nest.body = vector_split(nest.body, v, nest.lanes(), stores_only(nest.body), &vectors);
  for (const std::string& name : vectors) nest.body = jam(nest.body, name, LoopKind::Vector);
  return nest;
}

std::optional<Nest> blocked_channels(const Nest& nest) {
  if (!nest.in_vectors()) return std::nullopt;
  for (const Access& access : accesses(nest.body)) {
    if (!access.is_store || access.buffer->scope == Scope::Local) continue;
    for (size_t axis = 0; axis < access.indices.size(); ++axis) {
      const int64_t wide = nest.output->layout.block_of(static_cast<int>(axis)), lanes = nest.lanes();
      if (wide == 1 || (wide > lanes && wide % lanes != 0)) continue;
      const int64_t width = std::min(wide, lanes);  // of a panel's blocks one after the other
      const Ranges ranges = loop_ranges(nest.body);
      for (const std::string& v : nest_variables(nest.body)) {
        int64_t step = 0;
        if (!linear_coefficient(access.indices[axis], v, ranges, &step) || step != 1) continue;
        return block_loop(nest, v, width);
      }
    }
  }
  return std::nullopt;
}

Nest border(Nest nest) {
  const BufferRef& y = nest.output;
  for (size_t axis = 0; axis < y->shape.size() && nest.in_vectors(); ++axis) {
    const std::string v = cat("d", axis);
    const int64_t lanes = nest.lanes();
    if (y->layout.block_of(static_cast<int>(axis)) != lanes || !room_for_padding(nest.body, v, lanes)) continue;
    nest.body = outermost(with_kind(split_padded(nest.body, v, lanes), v + "_i", LoopKind::Vector), v + "_o");
  }
  return nest;
}

}  // namespace dnn::codegen::cpu
