// RoiAlign and MaxRoiPool: parts of feature maps, pooled to a fixed extent. RoiAlign: He et al., Mask R-CNN, section 3;
// MaxRoiPool: Girshick, Fast R-CNN, section 2.1. Arithmetic in the tensor's dtype (float16, bfloat16: float32).
#include <cmath>

#include "ops/movement.h"
#include "tensor/dispatch.h"

namespace dnn::roi_align_ops {
namespace {

// x: [N, C, H, W], rois: [R, 4] or [R, 5] -> [R, C, height, width]
void infer_pooled(InferContext& context, int64_t height, int64_t width) {
  if (height < 1 || width < 1) context.fail("an output of ", height, " x ", width);
  Type type(context.input(0).dtype, {Dim(), Dim(), Dim(height), Dim(width)});
  if (context.has_shape(0)) (*type.shape)[1] = context.shape(0, 4)[1];
  if (context.has_shape(1)) (*type.shape)[0] = context.shape(1, 2)[0];
  context.set_output(0, std::move(type));
}

void check_rois(const ReferenceContext& context, int64_t columns) {
  const Tensor &x = context.input(0), &rois = context.input(1);
  if (x.rank() != 4 || rois.rank() != 2 || rois.dim(1) != columns || rois.dtype() != x.dtype())
    context.fail("rois ", Type(rois).text(), " for input ", Type(x).text());
  if (x.dim(2) == 0 || x.dim(3) == 0) context.fail("nothing to pool in ", Type(x).text());
  for (double value : to_doubles(rois)) {
    if (!std::isfinite(value)) context.fail("rois that are not finite");
  }
}

struct AlignSettings {
  bool half_pixel, average;
  int64_t height, width, sampling;
  float scale;

  explicit AlignSettings(const Node& node)
      : height(int_attribute(node, "output_height")),
        width(int_attribute(node, "output_width")),
        sampling(int_attribute(node, "sampling_ratio")),
        scale(float_attribute(node, "spatial_scale")) {
    const std::string transform = string_attribute(node, "coordinate_transformation_mode"),
                      mode = string_attribute(node, "mode");
    half_pixel = transform == "half_pixel";
    average = mode == "avg";
    if ((!half_pixel && transform != "output_half_pixel") || (!average && mode != "max"))
      fail_unsupported(node.label(), ": mode ", quoted(mode), " with coordinates ", quoted(transform));
    if (height < 1 || width < 1 || sampling < 0)
      fail_malformed(node.label(), ": an output of ", height, " x ", width, ", sampling_ratio ", sampling);
  }
};

void infer_align(InferContext& context) {
  const AlignSettings settings(context.node);
  infer_pooled(context, settings.height, settings.width);
}

// The four elements around a sampling point, and their shares; a point outside has none.
template <class C>
struct Point {
  int64_t offset[4] = {0, 0, 0, 0};
  C weight[4] = {0, 0, 0, 0};

  Point(C y, C x, int64_t height, int64_t width) {
    if (y < C(-1) || y > C(height) || x < C(-1) || x > C(width)) return;
    const auto [y_low, y_high, ly] = around(y, height);
    const auto [x_low, x_high, lx] = around(x, width);
    const C hy = 1 - ly, hx = 1 - lx;
    offset[0] = y_low * width + x_low;
    offset[1] = y_low * width + x_high;
    offset[2] = y_high * width + x_low;
    offset[3] = y_high * width + x_high;
    weight[0] = hy * hx;
    weight[1] = hy * lx;
    weight[2] = ly * hx;
    weight[3] = ly * lx;
  }

  static std::tuple<int64_t, int64_t, C> around(C at, int64_t extent) {
    at = std::max(at, C(0));
    const auto low = static_cast<int64_t>(at);
    if (low >= extent - 1) return {extent - 1, extent - 1, C(0)};
    return {low, low + 1, at - static_cast<C>(low)};
  }
};

constexpr double kMostSamples = 0x1p24;  // per output element: more is a mistake or an attack

template <class T>
void align(const ReferenceContext& context, const AlignSettings& settings, const std::vector<int64_t>& batch,
           Tensor* y) {
  using C = Compute<T>;
  const Tensor &x = context.input(0), &rois = context.input(1);
  const int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3);
  const C offset = settings.half_pixel ? C(0.5) : C(0), scale = static_cast<C>(settings.scale);
  T* out = y->mutable_data<T>();
  for (int64_t r = 0; r < rois.dim(0); ++r) {
    const T* roi = rois.data<T>() + r * 4;
    const C start_w = widen(roi[0]) * scale - offset, start_h = widen(roi[1]) * scale - offset;
    C roi_w = widen(roi[2]) * scale - offset - start_w, roi_h = widen(roi[3]) * scale - offset - start_h;
    if (!settings.half_pixel) {  // at least one element
      roi_w = std::max(roi_w, C(1));
      roi_h = std::max(roi_h, C(1));
    }
    const C bin_h = roi_h / static_cast<C>(settings.height), bin_w = roi_w / static_cast<C>(settings.width);
    const C wanted_h = settings.sampling > 0 ? static_cast<C>(settings.sampling) : std::ceil(bin_h);
    const C wanted_w = settings.sampling > 0 ? static_cast<C>(settings.sampling) : std::ceil(bin_w);
    if (!(std::fabs(static_cast<double>(wanted_h)) * std::fabs(static_cast<double>(wanted_w)) <= kMostSamples) ||
        !(std::fabs(wanted_h) <= C(kMostSamples)) || !(std::fabs(wanted_w) <= C(kMostSamples)))
      fail_unsupported(context.node.label(), ": ", wanted_h, " x ", wanted_w, " samples for one output");
    const auto grid_h = static_cast<int64_t>(wanted_h), grid_w = static_cast<int64_t>(wanted_w);
    const C count = static_cast<C>(std::max<int64_t>(grid_h * grid_w, 1));
    for (int64_t ph = 0; ph < settings.height; ++ph) {
      for (int64_t pw = 0; pw < settings.width; ++pw) {
        std::vector<Point<C>> points;
        for (int64_t iy = 0; iy < grid_h; ++iy) {
          const C at_h = start_h + static_cast<C>(ph) * bin_h + (static_cast<C>(iy) + C(0.5)) * bin_h / wanted_h;
          for (int64_t ix = 0; ix < grid_w; ++ix) {
            const C at_w = start_w + static_cast<C>(pw) * bin_w + (static_cast<C>(ix) + C(0.5)) * bin_w / wanted_w;
            points.emplace_back(at_h, at_w, height, width);
          }
        }
        for (int64_t c = 0; c < channels; ++c) {
          const T* image = x.data<T>() + (batch[r] * channels + c) * height * width;
          C result = 0;
          bool first = true;
          for (const Point<C>& point : points) {
            C term[4];
            for (size_t k = 0; k < 4; ++k) term[k] = point.weight[k] * widen(image[point.offset[k]]);
            if (settings.average) {
              result += term[0] + term[1] + term[2] + term[3];
            } else {
              const C largest = std::max(std::max(term[0], term[1]), std::max(term[2], term[3]));
              result = first ? largest : std::max(result, largest);
            }
            first = false;
          }
          if (settings.average) result /= count;
          out[((r * channels + c) * settings.height + ph) * settings.width + pw] = narrow<T>(result);
        }
      }
    }
  }
}

void reference_align(ReferenceContext& context) {
  const AlignSettings settings(context.node);
  check_rois(context, 4);
  const Tensor &x = context.input(0), &rois = context.input(1);
  std::vector<int64_t> batch = int_values(context.node, context.input(2));
  if (static_cast<int64_t>(batch.size()) != rois.dim(0))
    context.fail(batch.size(), " batch_indices for ", rois.dim(0), " rois");
  for (int64_t index : batch) {
    if (index < 0 || index >= x.dim(0)) context.fail("batch index ", index, " of ", x.dim(0));
  }
  Tensor y(x.dtype(), {rois.dim(0), x.dim(1), settings.height, settings.width});
  dispatch_float(x.dtype(), [&](auto tag) { align<typename decltype(tag)::type>(context, settings, batch, &y); });
  context.outputs[0] = std::move(y);
}

std::vector<int64_t> pooled_shape(const Node& node) {
  std::vector<int64_t> shape = ints_attribute(node, "pooled_shape");
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1)
    fail_malformed(node.label(), ": pooled_shape ", shape_text(shape));
  return shape;
}

void infer_max(InferContext& context) {
  const std::vector<int64_t> shape = pooled_shape(context.node);
  infer_pooled(context, shape[0], shape[1]);
}

// Elements from .. to of one axis that output place i of n pools, for a region start .. end (both inside).
std::pair<int64_t, int64_t> bin(float start, float end, int64_t i, int64_t n, int64_t extent) {
  const float size = std::max(end - start + 1, 1.0f) / static_cast<float>(n), limit = static_cast<float>(extent);
  const float from = std::floor(static_cast<float>(i) * size) + start,
              to = std::ceil(static_cast<float>(i + 1) * size) + start;
  return {static_cast<int64_t>(std::clamp(from, 0.0f, limit)), static_cast<int64_t>(std::clamp(to, 0.0f, limit))};
}

void reference_max(ReferenceContext& context) {
  const std::vector<int64_t> shape = pooled_shape(context.node);
  check_rois(context, 5);
  const Tensor &x = context.input(0), rois = convert(context.input(1), DType::Float32);
  const float scale = float_attribute(context.node, "spatial_scale");
  const int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3);
  Tensor y(x.dtype(), {rois.dim(0), channels, shape[0], shape[1]});
  dispatch_float(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = y.mutable_data<T>();
    for (int64_t r = 0; r < rois.dim(0); ++r) {
      const float* roi = rois.data<float>() + r * 5;
      if (!(roi[0] >= 0 && roi[0] < static_cast<float>(x.dim(0)))) context.fail("batch index ", roi[0]);
      const auto n = static_cast<int64_t>(roi[0]);
      float edge[4];
      for (size_t k = 0; k < 4; ++k) edge[k] = std::round(roi[k + 1] * scale);
      for (int64_t c = 0; c < channels; ++c) {
        const T* image = x.data<T>() + (n * channels + c) * height * width;
        for (int64_t ph = 0; ph < shape[0]; ++ph) {
          const auto [h_from, h_to] = bin(edge[1], edge[3], ph, shape[0], height);
          for (int64_t pw = 0; pw < shape[1]; ++pw) {
            const auto [w_from, w_to] = bin(edge[0], edge[2], pw, shape[1], width);
            bool empty = true;
            T largest = T(0);
            for (int64_t h = h_from; h < h_to; ++h) {
              for (int64_t w = w_from; w < w_to; ++w) {
                const T value = image[h * width + w];
                if (empty || widen(value) > widen(largest)) largest = value;
                empty = false;
              }
            }
            *out++ = largest;
          }
        }
      }
    }
  });
  context.outputs[0] = std::move(y);
}

}  // namespace

OpDef define_RoiAlign() {
  OpDef op;
  op.name = "RoiAlign";
  op.since = 22;
  op.min_inputs = op.max_inputs = 3;
  op.traits = kNoTraits;
  op.attributes = {{"coordinate_transformation_mode", "half_pixel", "half_pixel or output_half_pixel"},
                   {"mode", "avg", "avg or max"},
                   {"output_height", 1, "rows of the result"},
                   {"output_width", 1, "columns of the result"},
                   {"sampling_ratio", 0, "samples of a bin along an axis; 0: as its extent says"},
                   {"spatial_scale", 1.0F, "from regions to the image"}};
  op.infer = infer_align;
  op.reference = reference_align;
  return op;
}

OpDef define_MaxRoiPool() {
  OpDef op;
  op.name = "MaxRoiPool";
  op.since = 22;
  op.min_inputs = op.max_inputs = 2;
  op.traits = {Trait::Moves};
  op.attributes = {{"pooled_shape", required(AttributeType::Ints), "height and width of the result"},
                   {"spatial_scale", 1.0F, "from regions to the image"}};
  op.infer = infer_max;
  op.reference = reference_max;
  return op;
}

}  // namespace dnn::roi_align_ops
