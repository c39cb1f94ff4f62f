// RotaryEmbedding: pairs of a head's elements turned by the angle of their position (Su et al., "RoFormer").
//
// real = cos * x1 - sin * x2, imaginary = sin * x1 + cos * x2, each operation rounded to the tensor's type.
#include "ops/outputs.h"
#include "tensor/dispatch.h"

namespace dnn::rotary_embedding_ops {
namespace {

// x: [B, H, S, D] or [B, S, H * D]; caches: [positions, R / 2] with position ids [B, S], or [B, S, R / 2] without.
struct Form {
  int64_t batch, heads, length, size, turned;
  bool heads_first;
};

Form form_of(const Node& node, const Shape& x) {
  Form form{};
  form.heads_first = x.size() == 4;
  if (form.heads_first) {
    form = {x[0], x[1], x[2], x[3], 0, true};
  } else {
    const int64_t heads = int_attribute(node, "num_heads");
    if (heads < 1 || x[2] % heads != 0)
      fail_malformed(node.label(), ": num_heads ", heads, " does not divide ", shape_text(x));
    form = {x[0], heads, x[1], x[2] / heads, 0, false};
  }
  const int64_t turned = int_attribute(node, "rotary_embedding_dim");
  form.turned = turned == 0 ? form.size : turned;
  if (form.turned < 0 || form.turned > form.size || form.turned % 2 != 0)
    fail_malformed(node.label(), ": rotary_embedding_dim ", form.turned, " of a head of ", form.size);
  return form;
}

void infer(InferContext& context) {
  const Type& x = context.input(0);
  for (size_t i = 0; i < 3; ++i) {
    expect_float(context, i);
    expect_dtype(context, i, x.dtype);
  }
  expect_dtype(context, 3, DType::Int64);
  if (x.shape && x.shape->size() != 3 && x.shape->size() != 4)
    context.fail("input ", x.text(), ": three or four axes expected");
  if (x.fixed()) {
    const Form form = form_of(context.node, x.fixed_shape());
    const bool by_id = context.has_input(3);
    for (size_t i = 1; i < 3; ++i) {
      if (!context.has_shape(i)) continue;
      const auto& cache = context.shape(i, by_id ? 2 : 3);
      const bool fits =
          (!cache.back().fixed() || cache.back().size == form.turned / 2) &&
          (by_id || !context.input(i).fixed() || (cache[0].size == form.batch && cache[1].size == form.length));
      if (!fits) context.fail("cache ", context.input(i).text(), " does not fit ", x.text());
    }
    if (context.has_shape(3) && context.input(3).fixed() &&
        context.input(3).fixed_shape() != Shape{form.batch, form.length})
      context.fail("position ids ", context.input(3).text(), " do not fit ", x.text());
  }
  context.set_output(0, x);
}

template <class T>
void compute(ReferenceContext& context, Tensor& y) {
  using C = Compute<T>;
  const auto rounded = [](C value) { return widen(narrow<T>(value)); };
  const Form form = form_of(context.node, y.shape());
  const bool interleaved = flag_attribute(context.node, "interleaved"), by_id = context.has_input(3);
  const int64_t half = form.turned / 2, rows = by_id ? std::min(context.input(1).dim(0), context.input(2).dim(0)) : 0;
  const T *cosines = context.input(1).data<T>(), *sines = context.input(2).data<T>(), *in = context.input(0).data<T>();
  T* out = y.mutable_data<T>();
  for (int64_t b = 0; b < form.batch; ++b) {
    for (int64_t s = 0; s < form.length; ++s) {
      int64_t row = b * form.length + s;
      if (by_id) {
        row = context.input(3).data<int64_t>()[row];
        if (row < 0) row += rows;
        if (row < 0 || row >= rows) context.fail("position id ", row, " is outside of the cache of ", rows);
      }
      for (int64_t h = 0; h < form.heads; ++h) {
        const int64_t start =
            (form.heads_first ? (b * form.heads + h) * form.length + s : (b * form.length + s) * form.heads + h) *
            form.size;
        for (int64_t i = 0; i < half; ++i) {
          const int64_t first = start + (interleaved ? 2 * i : i), second = first + (interleaved ? 1 : half);
          const C cosine = widen(cosines[row * half + i]), sine = widen(sines[row * half + i]);
          const C x1 = widen(in[first]), x2 = widen(in[second]);
          out[first] = narrow<T>(rounded(cosine * x1) - rounded(sine * x2));
          out[second] = narrow<T>(rounded(sine * x1) + rounded(cosine * x2));
        }
        std::copy(in + start + form.turned, in + start + form.size, out + start + form.turned);
      }
    }
  }
}

void reference(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer);
  dispatch_float(y.dtype(), [&](auto tag) { compute<typename decltype(tag)::type>(context, y); });
  context.outputs[0] = std::move(y);
}

}  // namespace

OpDef define_RotaryEmbedding() {
  OpDef op;
  op.name = "RotaryEmbedding";
  op.since = 23;
  op.min_inputs = 3;
  op.max_inputs = 4;
  op.traits = kNoTraits;
  op.attributes = {{"interleaved", 0, "pairs lie beside each other, not in halves"},
                   {"num_heads", optional(AttributeType::Int), "heads of an input of rank 3"},
                   {"rotary_embedding_dim", 0, "elements of a head that turn; 0: all"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::rotary_embedding_ops
