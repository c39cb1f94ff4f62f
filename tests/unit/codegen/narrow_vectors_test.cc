// Vector loops cut to the machine's width keep what a kernel computes, to the bit.
#include "codegen/narrow_vectors.h"

#include <gtest/gtest.h>

#include "loop_case.h"
#include "loops/simplify.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// y[i, j] = sum over k of a[i, k] * b[k, j], j in vectors of 16 inside of the reduction, b in panels of 32.
struct Product {
  BufferRef a = global("a", {2, 5}), b = global("b", {5, 64}, "p1.0,1/32"), y = global("y", {2, 64});
  Stmt body() const {
    const Expr i = variable("i"), j = variable("j"), k = variable("k");
    const BufferRef sum = local_buffer("sum", DType::Float32);
    Stmt one = block({alloc(sum), store(sum, {}, constant(DType::Float32, 0)),
                      loop("k", 5, store(sum, {}, load(sum, {}) + load(a, {i, k}) * load(b, {k, j}))),
                      store(y, {i, j}, load(sum, {}))});
    return jam(split(loop("i", 2, loop("j", 64, std::move(one))), "j", 16), "j_i", LoopKind::Vector);
  }
  Tensor result(const Stmt& stmt) const {
    std::vector<Tensor> tensors;
    for (const BufferRef& buffer : {y, a, b}) {
      Tensor t(DType::Float32, {buffer->layout.element_count(buffer->shape)});
      for (int64_t n = 0; n < t.size(); ++n)
        t.mutable_data<float>()[n] = static_cast<float>((n * 37 + 11) % 23) / 7.0f - 1.5f;
      tensors.push_back(std::move(t));
    }
    evaluate({"test", "", "matmul", {y, a, b}, stmt}, tensors);
    return tensors[0];
  }
};

TEST(NarrowVectors, RegistersGainAnAxis) {
  const Product p;
  const Stmt after = narrow_vectors(p.body(), 4);
  EXPECT_NE(to_text(after).find("local sum: float32[4,4]"), std::string::npos) << to_text(after);
  EXPECT_NE(to_text(after).find("vector j_i_l < 4"), std::string::npos) << to_text(after);
  EXPECT_TRUE(p.result(after).identical(p.result(p.body())));
}

TEST(NarrowVectors, LeavesWhatFits) {
  const Product p;
  EXPECT_EQ(to_text(narrow_vectors(p.body(), 16)), to_text(p.body()));
}

TEST(NarrowVectors, ALocalThatIsReadElementByElementStaysAnArray) {
  const BufferRef x = global("x", {16}), y = global("y", {1}), held = local_buffer("held", DType::Float32, {16});
  const Expr v = variable("v"), r = variable("r"), zero = 0;
  const Stmt body = block({alloc(held), loop("v", 16, store(held, {v}, load(x, {v}) * 2), LoopKind::Vector),
                           loop("r", 16, store(y, {zero}, load(y, {zero}) + load(held, {r})))});
  const auto result = [&](const Stmt& stmt) {
    std::vector<Tensor> tensors = {Tensor::of<float>({1}, {1}), Tensor(DType::Float32, {16})};
    for (int64_t n = 0; n < 16; ++n) tensors[1].mutable_data<float>()[n] = static_cast<float>(n);
    evaluate({"test", "", "row", {y, x}, stmt}, tensors);
    return tensors[0];
  };
  const Stmt after = narrow_vectors(body, 8);
  EXPECT_NE(to_text(after).find("local held: float32[16]"), std::string::npos) << to_text(after);
  EXPECT_TRUE(result(after).identical(result(body)));
}

// Halves of a panel: what a narrow vector reads lies in one run, which the index's simplification sees.
TEST(NarrowVectors, ReadRunsOfAPanel) {
  const Product p;
  const Ranges ranges = {{"j_o", {0, 3}}, {"l", {0, 7}}, {"k", {0, 4}}};
  const Expr offset = flat_offset(*p.b, {variable("k"), variable("j_o") * 16 + 8 + variable("l")});
  int64_t step = 0;
  EXPECT_TRUE(linear_coefficient(simplify(offset, ranges), "l", ranges, &step));
  EXPECT_EQ(step, 1);
}

}  // namespace
}  // namespace dnn::codegen
