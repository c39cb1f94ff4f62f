// Layout; see layout.h.
#include "loops/layout.h"

#include <algorithm>

#include "base/text.h"

namespace dnn::loops {

Layout& Layout::block(int axis, int64_t factor) {
  if (factor > 1) blocks_.push_back({axis, factor});
  return *this;
}

Layout& Layout::halo(int axis, int64_t low, int64_t high) {
  if (low == 0 && high == 0) return *this;
  for (Halo& halo : halos_) {
    if (halo.axis != axis) continue;
    halo.low = std::max(halo.low, low);
    halo.high = std::max(halo.high, high);
    return *this;
  }
  halos_.push_back({axis, low, high});
  return *this;
}

Layout& Layout::order(std::vector<int> outer_axes) {
  order_ = std::is_sorted(outer_axes.begin(), outer_axes.end()) ? std::vector<int>() : std::move(outer_axes);
  return *this;
}

int64_t Layout::halo_low(int axis) const {
  for (const Halo& halo : halos_) {
    if (halo.axis == axis) return halo.low;
  }
  return 0;
}

int64_t Layout::halo_high(int axis) const {
  for (const Halo& halo : halos_) {
    if (halo.axis == axis) return halo.high;
  }
  return 0;
}

int64_t Layout::block_of(int axis) const {
  int64_t product = 1;
  for (const Block& block : blocks_) product *= block.axis == axis ? block.factor : 1;
  return product;
}

int64_t Layout::capacity(const Shape& shape, int axis) const {
  const int64_t whole = shape[axis] + halo_low(axis) + halo_high(axis), block = block_of(axis);
  return (whole + block - 1) / block * block - halo_low(axis);
}

std::vector<LayoutDim> Layout::dims(const Shape& shape) const {
  std::vector<LayoutDim> result;
  const int rank = static_cast<int>(shape.size());
  std::vector<int64_t> inner;  // product of the blocks still to come, per axis
  for (int axis = 0; axis < rank; ++axis) inner.push_back(block_of(axis));
  for (int i = 0; i < rank; ++i) {
    const int axis = order_.empty() ? i : order_[i];
    const int64_t block = inner[axis];
    result.push_back({axis, block, (capacity(shape, axis) + halo_low(axis)) / block, true});
  }
  for (const Block& block : blocks_) {
    int64_t& rest = inner[block.axis];
    rest /= block.factor;
    result.push_back({block.axis, rest, block.factor, false});
  }
  return result;
}

int64_t Layout::element_count(const Shape& shape) const {
  int64_t n = 1;
  for (const LayoutDim& dim : dims(shape)) n *= dim.extent;
  return n;
}

std::string Layout::text() const {
  std::vector<std::string> parts;
  if (!order_.empty()) parts.push_back("p" + join(order_, "."));
  for (const Block& block : blocks_) parts.push_back(cat(block.axis, "/", block.factor));
  for (const Halo& halo : halos_) parts.push_back(cat("h", halo.axis, "+", halo.low, "+", halo.high));
  return join(parts, ",");
}

Layout Layout::parse(const std::string& text) {
  Layout layout;
  if (text.empty()) return layout;
  auto number = [&](std::string_view part) {
    int64_t value = 0;
    if (!parse_int(part, &value) || value < 0)
      fail_malformed("layout ", quoted(text), ": '", part, "' is not a number");
    return value;
  };
  for (const std::string& part : split(text, ',')) {
    if (part.empty()) fail_malformed("layout ", quoted(text), ": empty part");
    if (part[0] == 'p') {
      std::vector<int> axes;
      for (const std::string& axis : split(std::string_view(part).substr(1), '.'))
        axes.push_back(static_cast<int>(number(axis)));
      layout.order(std::move(axes));
    } else if (part[0] == 'h') {
      const std::vector<std::string> fields = split(std::string_view(part).substr(1), '+');
      if (fields.size() != 3) fail_malformed("layout ", quoted(text), ": a halo reads hAXIS+LOW+HIGH");
      layout.halo(static_cast<int>(number(fields[0])), number(fields[1]), number(fields[2]));
    } else {
      const std::vector<std::string> fields = split(part, '/');
      if (fields.size() != 2) fail_malformed("layout ", quoted(text), ": a block reads AXIS/FACTOR");
      layout.block(static_cast<int>(number(fields[0])), number(fields[1]));
    }
  }
  return layout;
}

namespace {

// Calls copy(logical element, physical element) for every element. Offsets are separable by axis, so a table per axis
// turns the walk into additions.
template <class Copy>
void for_each_element(const Shape& shape, const Layout& layout, Copy copy) {
  const std::vector<LayoutDim> dims = layout.dims(shape);
  std::vector<int64_t> stride(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) stride[i - 1] = stride[i] * dims[i].extent;
  std::vector<std::vector<int64_t>> offset(shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    for (int64_t i = 0; i < shape[axis]; ++i) {
      int64_t sum = 0;
      for (size_t d = 0; d < dims.size(); ++d) {
        if (dims[d].axis != static_cast<int>(axis)) continue;
        const int64_t coordinate = (i + layout.halo_low(static_cast<int>(axis))) / dims[d].divisor;
        sum += (dims[d].outermost ? coordinate : coordinate % dims[d].extent) * stride[d];
      }
      offset[axis].push_back(sum);
    }
  }
  const int64_t n = dnn::element_count(shape);
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) at += offset[axis][index[axis]];
    copy(i, at);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

}  // namespace

Tensor pack(const Tensor& tensor, const Layout& layout) {
  Tensor packed(tensor.dtype(), {layout.element_count(tensor.shape())});
  const size_t width = dtype_size(tensor.dtype());
  const std::byte* in = tensor.bytes().data();
  std::byte* out = packed.mutable_bytes();
  for_each_element(tensor.shape(), layout, [&](size_t logical, size_t physical) {
    std::memcpy(out + physical * width, in + logical * width, width);
  });
  return packed;
}

Tensor unpack(const Tensor& packed, const Shape& shape, const Layout& layout) {
  Tensor tensor(packed.dtype(), shape);
  const size_t width = dtype_size(packed.dtype());
  const std::byte* in = packed.bytes().data();
  std::byte* out = tensor.mutable_bytes();
  for_each_element(shape, layout, [&](size_t logical, size_t physical) {
    std::memcpy(out + logical * width, in + physical * width, width);
  });
  return tensor;
}

}  // namespace dnn::loops
