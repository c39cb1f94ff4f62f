// Resizing: upsample_*, in the forms that torch.nn.functional.interpolate calls. An extent is what torch computes in float64; an
// element's place follows the factor where one is given, else the two extents, in halves of elements even for an extent of 1.
#include <algorithm>
#include <cmath>

#include "formats/resampling.h"
#include "formats/torch/imports.h"

namespace dnn::torch {
namespace {

// A row's function: "linear2", "exact1"; "cubic2a" with antialiasing.
struct ResizeKind {
  std::string mode;
  size_t axes;
  bool antialias;

  explicit ResizeKind(const std::string& text)
      : mode(text.substr(0, text.find_first_of("123"))),
        axes(text[mode.size()] - '0'),
        antialias(ends_with(text, "a")) {}
  bool nearest() const { return mode == "nearest" || mode == "exact"; }
};

// One spatial axis: extents of -1 are open.
struct Axis {
  int64_t in = -1, out = -1;
  std::optional<double> factor;
};

double factor_number(Op& op, const Any& value) {
  if (const auto* real = value.get<double>()) return *real;
  if (const auto* integer = value.get<int64_t>()) return static_cast<double>(*integer);
  op.refuse("a factor is ", kind_of(value));
}

std::vector<std::optional<double>> factors_of(Op& op, size_t at, size_t n) {
  std::vector<std::optional<double>> factors(n);
  if (op.has(at) && op.argument(at).list()) {
    const std::vector<Any>& items = op.items(at);
    if (items.size() != n && items.size() != 1) op.fail(items.size(), " factors for ", n, " axes");
    for (size_t i = 0; i < n; ++i) factors[i] = factor_number(op, items[items.size() == 1 ? 0 : i]);
  } else {
    for (size_t i = 0; i < n; ++i) {
      if (op.has(at + i)) factors[i] = op.real(at + i);
    }
  }
  for (std::optional<double>& factor : factors) {
    if (factor && !(*factor > 0 && *factor < 1e6)) factor.reset();  // torch takes a factor of 0 for none
  }
  return factors;
}

Attributes attributes_of(const ResizeKind& kind, bool corners) {
  const bool exact = kind.mode == "exact";
  if (kind.nearest()) {
    return {{"mode", std::string("nearest")},
            {"coordinate_transformation_mode", std::string(exact ? "half_pixel" : "asymmetric")},
            {"nearest_mode", std::string(exact ? "round_prefer_ceil" : "floor")}};
  }
  Attributes attributes = {{"mode", kind.mode},
                           {"coordinate_transformation_mode", std::string(corners ? "align_corners" : "half_pixel")}};
  if (kind.mode == "cubic") attributes["cubic_coeff_a"] = kind.antialias ? -0.5f : -0.75f;
  if (kind.antialias) attributes["antialias"] = attributes["exclude_outside"] = int64_t{1};
  return attributes;
}

// The elements that torch picks: its arithmetic is float32's.
std::vector<int64_t> picked_by_torch(const Axis& axis, bool exact) {
  const float scale =
      axis.factor ? static_cast<float>(1.0 / *axis.factor) : static_cast<float>(axis.in) / static_cast<float>(axis.out);
  std::vector<int64_t> elements;
  for (int64_t i = 0; i < axis.out; ++i) {
    int64_t at = i;
    if (exact) {
      const float place = std::max(0.0f, scale * (static_cast<float>(i) + 0.5f) - 0.5f);
      at = static_cast<int64_t>(std::floor(place + 0.5f));
    } else if (axis.out == 2 * axis.in) {
      at = i / 2;
    } else if (axis.out != axis.in) {
      at = static_cast<int64_t>(std::floor(scale * static_cast<float>(i)));
    }
    elements.push_back(std::clamp<int64_t>(at, 0, axis.in - 1));
  }
  return elements;
}

// Whether the factors say where elements lie, and not the extents; of whole factors both say the same.
bool by_factors(Op& op, const std::vector<Axis>& axes, bool corners) {
  bool any = false, all = true;
  for (const Axis& axis : axes) {
    all = all && axis.factor.has_value();
    if (!axis.factor) continue;
    const bool open = axis.in < 0 || axis.out < 0, whole = *axis.factor == std::floor(*axis.factor);
    const double exact = static_cast<double>(axis.out) / static_cast<double>(axis.in);
    any = any || (corners ? open && whole : open || whole || *axis.factor != exact);
  }
  if (any && !all) op.refuse("a factor for one axis and none for another is not read");
  return any;
}

float factor_of(Op& op, const Axis& axis) {
  if (axis.in < 0 || axis.out < 0) return resize_factor(*axis.factor);
  const std::optional<float> factor = resize_factor(*axis.factor, axis.in, axis.out);
  if (!factor)
    op.refuse("an extent of ", axis.in, " becomes ", axis.out, ", which its factor ", *axis.factor, " does not give");
  return *factor;
}

ValueId resized(Op& op, ValueId x, const std::vector<Axis>& axes, Attributes attributes, bool factors) {
  std::vector<ValueId> inputs = {x, kNoValue};
  if (factors) {
    std::vector<float> scales;
    for (const Axis& axis : axes) scales.push_back(factor_of(op, axis));
    inputs.push_back(op.store("scales", Tensor::of<float>({static_cast<int64_t>(scales.size())}, scales)));
  } else {
    std::vector<Any> sizes;
    for (const Axis& axis : axes) sizes.emplace_back(axis.out);
    const bool open = std::any_of(axes.begin(), axes.end(), [](const Axis& a) { return a.out < 0; });
    if (open && !op.has(1)) op.refuse("an extent follows from one that is open; fix the input's shape with --shape");
    inputs.push_back(kNoValue);
    inputs.push_back(op.ints_value(open ? op.items(1) : sizes));
  }
  return op.emit("Resize", std::move(inputs), std::move(attributes));
}

// By nearest neighbours: a Resize where that takes torch's elements.
ValueId nearest(Op& op, ValueId x, const std::vector<Axis>& axes, const Attributes& attributes, bool exact,
                bool factors) {
  std::vector<PickedAxis> picked;
  bool same = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axis& axis = axes[i];
    if (axis.in < 0 || axis.out < 0) return resized(op, x, axes, attributes, factors);
    picked.push_back({static_cast<int64_t>(i) + 2, picked_by_torch(axis, exact)});
    const std::optional<float> factor = factors ? std::optional(factor_of(op, axis)) : std::nullopt;
    same = same && picked.back().elements == nearest_elements(attributes, axis.in, axis.out, factor);
  }
  return same ? resized(op, x, axes, attributes, factors) : pick_elements(op, x, picked);
}

}  // namespace

Any resize(Op& op) {
  const ResizeKind kind(op.row().op);
  const bool corners = !kind.nearest() && op.flag(2);
  if (corners && kind.antialias) op.refuse("align_corners with antialiasing is not read");
  const ValueId x = op.tensor(0);
  const std::vector<Dim> extents = op.shape(x);
  if (extents.size() != kind.axes + 2) op.fail("its input is ", op.type(x).text());
  const std::vector<std::optional<double>> given = factors_of(op, kind.nearest() ? 2 : 3, kind.axes);
  if (op.has(1) && op.items(1).size() != kind.axes) op.fail("a size of ", op.items(1).size(), " extents");
  std::vector<Axis> axes(kind.axes);
  std::vector<int64_t> places;
  for (size_t i = 0; i < kind.axes; ++i) {
    Axis& axis = axes[i];
    places.push_back(static_cast<int64_t>(i) + 2);
    axis.factor = given[i];
    if (extents[i + 2].fixed()) axis.in = extents[i + 2].size;
    const int64_t* size = op.has(1) ? op.items(1)[i].get<int64_t>() : nullptr;
    if (size != nullptr) axis.out = *size;
    if (!op.has(1) && !axis.factor) op.fail("neither a size nor a factor");
    if (!op.has(1) && axis.in >= 0) axis.out = static_cast<int64_t>(static_cast<double>(axis.in) * *axis.factor);
    // Linear and antialiased interpolation leave an axis alone whose extent stays, whatever its factor.
    if (axis.in == axis.out && axis.factor && (kind.mode == "linear" || kind.antialias)) axis.factor = 1;
    if (axis.in == 0 || axis.out == 0) op.fail("an extent of ", axis.in, " becomes ", axis.out);
  }
  Attributes attributes = attributes_of(kind, corners);
  attributes["axes"] = places;
  const bool factors = by_factors(op, axes, corners);
  if (kind.nearest()) return op.result(nearest(op, x, axes, attributes, kind.mode == "exact", factors));
  return op.result(resized(op, x, axes, std::move(attributes), factors));
}

}  // namespace dnn::torch
