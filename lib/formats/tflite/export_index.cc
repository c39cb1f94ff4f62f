// Writing what picks elements by their numbers, orders them or runs along an axis.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "formats/tflite/exports.h"

namespace dnn::tflite {
namespace {

// Counted from the front, as TFLite's are; by extents of the axes that they run along, from `first` on.
int32_t index_tensor(Export& e, size_t i, size_t first, bool tuples) {
  const dnn::Tensor* known = e.constant(i);
  if (known == nullptr) return e.input(i);
  std::vector<int64_t> values = to_int64s(*known);
  const std::vector<int64_t> shape = e.shape(0);
  const auto depth = tuples ? static_cast<size_t>(known->shape().back()) : 1;
  for (size_t k = 0; k < values.size(); ++k) {
    const int64_t extent = shape[first + k % depth];
    if (values[k] < 0 && extent < 0) e.refuse("an index from the back of an open extent");
    values[k] += values[k] < 0 ? extent : 0;
  }
  return e.store("indices", dnn::Tensor::of<int64_t>(known->shape(), values));
}

void reshaped(Export& e, int32_t from, const std::vector<int64_t>& shape, int32_t to) {
  const auto extents = e.builder().CreateVector(std::vector<int32_t>(shape.begin(), shape.end()));
  e.op(22, {from, e.ints(shape)}, {to}, {17, CreateReshapeOptions(e.builder(), extents)});
}

int64_t count_of(const Export& e, size_t i) {
  const std::vector<int64_t> shape = e.shape(i);
  return std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; }) ? -1 : element_count(shape);
}

// Input i as [n].
int32_t one_row(Export& e, size_t i, int64_t n) {
  const int32_t given = e.input(i);
  if (e.shape(i) == std::vector<int64_t>{n}) return given;
  const DType dtype = e.type(i).dtype == DType::Int64 ? DType::Int32 : e.type(i).dtype;
  const int32_t row = e.step(i == 1 ? "ids" : "values", {dtype, {Dim(n)}});
  reshaped(e, given, {n}, row);
  return row;
}

}  // namespace

void write_gather(Export& e) {
  const auto axis = static_cast<int>(e.node().attribute_int("axis", 0));
  const size_t at = axis < 0 ? axis + static_cast<int>(e.shape(0).size()) : axis;
  e.op(36, {e.input(0), index_tensor(e, 1, at, false)}, {e.output()}, {23, CreateGatherOptions(e.builder(), axis)});
}

void write_gather_nd(Export& e) {
  if (e.node().attribute_int("batch_dims", 0) != 0) e.refuse("tuples for each of a batch");
  e.op(107, {e.input(0), index_tensor(e, 1, 0, true)}, {e.output()}, {83, CreateAnyTable(e.builder())});
}

// Into one row of numbers. SCATTER_ND adds what meets at a place; the last update of each place is the largest of its numbers.
void write_scatter(Export& e) {
  const int64_t n = e.shape(0)[0], updates = e.output_type(0).fixed() ? count_of(e, 2) : -1;
  if (n < 0 || updates < 1) e.refuse("its extents are open; fix them with --shape");
  const std::string reduction = e.node().attribute_string("reduction", "none");
  const DType dtype = e.type(0).dtype;
  const auto any = [&](int options) { return OptionsRef{options, CreateAnyTable(e.builder())}; };
  const int32_t ids = one_row(e, 1, updates), values = one_row(e, 2, updates), rows = e.ints({n});
  const int32_t segments = e.store("segments", dnn::Tensor::scalar(static_cast<int32_t>(n)));
  if (reduction == "none") {
    const Type place(DType::Int32, {Dim(n)});
    std::vector<int64_t> numbers(updates);
    std::iota(numbers.begin(), numbers.end(), int64_t{0});
    const int32_t last = e.step("last", place), from = e.step("from", place),
                  taken = e.step("taken", {dtype, {Dim(n)}}), hit = e.step("hit", {DType::Bool, {Dim(n)}});
    const int32_t zero = e.store("zero", dnn::Tensor::scalar(int32_t{0}));
    e.op(154, {e.ints(numbers), ids, segments}, {last}, any(119));
    e.op(62, {last, zero}, {hit}, any(45));
    e.op(55, {last, zero}, {from}, any(39));
    e.op(36, {values, from}, {taken}, {23, CreateGatherOptions(e.builder(), 0)});
    return e.op(123, {hit, taken, e.input(0)}, {e.output()}, any(98));
  }
  const int32_t all = e.step("updates", {dtype, {Dim(n)}});
  if (reduction == "add") {
    const int32_t tuples = e.step("tuples", {DType::Int32, {Dim(updates), Dim(1)}});
    reshaped(e, ids, {updates, 1}, tuples);
    e.op(122, {tuples, values, rows}, {all}, any(97));
    return e.op(0, {e.input(0), all}, {e.output()}, {11, CreateArithmeticOptions(e.builder(), Activation::NONE)});
  }
  if (reduction == "mul") {
    e.op(153, {values, ids, segments}, {all}, any(118));
    return e.op(18, {e.input(0), all}, {e.output()}, {21, CreateArithmeticOptions(e.builder(), Activation::NONE)});
  }
  e.op(reduction == "max" ? 154 : 157, {values, ids, segments}, {all}, any(reduction == "max" ? 119 : 120));
  e.op(reduction == "max" ? 55 : 57, {e.input(0), all}, {e.output()}, any(39));
}

// TFLite gives numbers of boxes, and how many of them hold; image and class are 0 in front of them.
void write_non_max_suppression(Export& e) {
  const int64_t boxes = e.shape(0)[1];
  if (boxes < 0) e.refuse("its number of boxes is open; fix it with --shape");
  const auto number = [&](size_t i, double fallback) {
    if (!e.has_input(i)) return fallback;
    const dnn::Tensor& known = e.known(i, i == 2 ? "number of boxes" : "threshold");
    if (known.size() != 1) e.refuse("its input ", i, " has ", known.size(), " numbers");
    return i == 2 ? static_cast<double>(std::clamp<int64_t>(to_int64s(known)[0], 0, boxes)) : to_doubles(known)[0];
  };
  const auto most = static_cast<int32_t>(number(2, 0));
  if (number(3, 0) >= 1)
    e.refuse("a threshold of overlap of ", number(3, 0), ", by which TFLite chooses one box again and again");
  // TFLite suppresses from the threshold on, ONNX beyond it.
  const float overlap = std::nextafter(static_cast<float>(number(3, 0)), std::numeric_limits<float>::infinity()),
              least = static_cast<float>(number(4, -std::numeric_limits<double>::infinity()));
  const auto any = [&](int options) { return OptionsRef{options, CreateAnyTable(e.builder())}; };
  const int32_t flat = e.step("boxes", {DType::Float32, {Dim(boxes), Dim(4)}});
  reshaped(e, e.input(0), {boxes, 4}, flat);
  const int32_t scores = one_row(e, 1, boxes), chosen = e.step("chosen", {DType::Int32, {Dim(most)}}),
                valid = e.step("valid", {DType::Int32, std::vector<Dim>()}),
                size = e.step("size", {DType::Int32, {Dim(1)}}), kept = e.step("kept", {DType::Int32, {Dim()}}),
                rows = e.step("rows", {DType::Int32, {Dim(), Dim(1)}});
  e.op(120,
       {flat, scores, e.store("most", dnn::Tensor::scalar(most)), e.store("overlap", dnn::Tensor::scalar(overlap)),
        e.store("least", dnn::Tensor::scalar(least))},
       {chosen, valid}, any(95));
  reshaped(e, valid, {1}, size);
  e.op(65, {chosen, e.ints({0}), size}, {kept}, any(48));
  reshaped(e, kept, {-1, 1}, rows);
  const int32_t front = e.store("pads", dnn::Tensor::of<int32_t>({2, 2}, {0, 0, 2, 0}));
  e.op(34, {rows, front}, {e.output()}, any(22));
}

void write_top_k(Export& e) {
  if (e.node().attribute_int("largest", 1) == 0) e.refuse("the smallest elements");
  const int64_t axis = e.node().attribute_int("axis", -1);
  if (axis != -1 && axis != static_cast<int64_t>(e.shape(0).size()) - 1) e.refuse("along axis ", axis);
  const auto k = static_cast<int32_t>(e.known_ints(1, "number of elements").at(0));
  e.op(48, {e.input(0), e.store("k", dnn::Tensor::scalar(k))}, {e.output(), e.output(1)},
       {34, CreateAnyTable(e.builder())});
}

void write_cumsum(Export& e) {
  const auto axis = static_cast<int32_t>(e.known_ints(1, "axis").at(0));
  e.op(128, {e.input(0), e.store("axis", dnn::Tensor::scalar(axis))}, {e.output()},
       {102, CreateCumsumOptions(e.builder(), e.node().attribute_int("exclusive", 0) != 0,
                                 e.node().attribute_int("reverse", 0) != 0)});
}

void write_reverse_sequence(Export& e) {
  const auto time = static_cast<int>(e.node().attribute_int("time_axis", 0)),
             batch = static_cast<int>(e.node().attribute_int("batch_axis", 1));
  e.op(112, {e.input(0), e.input(1)}, {e.output()}, {87, CreateReverseSequenceOptions(e.builder(), time, batch)});
}

}  // namespace dnn::tflite
