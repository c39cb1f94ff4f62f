// Vectors inside a task keep what a kernel computes: to the bit without reassociation, of small integers also with it.
#include "codegen/inner_loops.h"

#include <gtest/gtest.h>

#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// Per row of x: its largest element, the sum of the distances from it, and each distance over that sum.
struct Rows {
  explicit Rows(int64_t length) : n(length) {}
  int64_t n;
  BufferRef x = std::make_shared<const Buffer>(Buffer{"x", DType::Float32, {3, n}, {}, Scope::Global});
  BufferRef y = std::make_shared<const Buffer>(Buffer{"y", DType::Float32, {3, n}, {}, Scope::Global});

  Stmt body() const {
    const Expr i = variable("i");
    const BufferRef most = local_buffer("most", DType::Float32), sum = local_buffer("sum", DType::Float32),
                    kept = local_buffer("kept", DType::Float32, {n});
    return loop("i", 3,
                block({alloc(most), alloc(sum), alloc(kept), store(most, {}, constant(DType::Float32, -1000)),
                       loop("a", n, store(most, {}, loops::max(load(most, {}), load(x, {i, variable("a")})))),
                       store(sum, {}, constant(DType::Float32, 0)),
                       loop("b", n, store(kept, {variable("b")}, load(most, {}) - load(x, {i, variable("b")}))),
                       loop("c", n, store(sum, {}, load(sum, {}) + load(kept, {variable("c")}))),
                       loop("d", n, store(y, {i, variable("d")}, load(kept, {variable("d")}) / load(sum, {})))}));
  }

  Tensor result(const Stmt& stmt) const {
    Kernel kernel;
    kernel.name = "test";
    kernel.arguments = {y, x};
    kernel.body = stmt;
    std::vector<Tensor> tensors = {Tensor(DType::Float32, {3 * n}), Tensor(DType::Float32, {3 * n})};
    for (int64_t k = 0; k < 3 * n; ++k) tensors[1].mutable_data<float>()[k] = static_cast<float>((k * 37 + 11) % 23);
    evaluate(kernel, tensors);
    return tensors[0];
  }
};

int64_t vector_loops(const Stmt& s) {
  int64_t n = s->kind == StmtKind::For && s->loop == LoopKind::Vector ? 1 : 0;
  for (const Stmt& child : s->children) n += vector_loops(child);
  return n;
}

TEST(InnerLoops, MapsRunInVectorsAndSumsStayInOrder) {
  for (const int64_t n : {16, 35, 64}) {
    const Rows rows(n);
    const Stmt after = vectorise_inner(rows.body(), DType::Float32, 16, false);
    EXPECT_GE(vector_loops(after), 2) << to_text(after);
    EXPECT_NE(to_text(after).find("for c < " + std::to_string(n)), std::string::npos) << to_text(after);
    EXPECT_TRUE(rows.result(after).identical(rows.result(rows.body()))) << n;
  }
}

TEST(InnerLoops, ReassociatedSumsOfIntegersAreTheSame) {
  for (const int64_t n : {16, 32, 35, 64}) {
    const Rows rows(n);
    const Stmt after = vectorise_inner(rows.body(), DType::Float32, 16, true);
    const bool in_order = to_text(after).find("for c < ") != std::string::npos;
    EXPECT_EQ(in_order, n < 32) << to_text(after);  // of one vector only, there is nothing to gain
    EXPECT_TRUE(rows.result(after).identical(rows.result(rows.body()))) << n;
  }
}

// 39 = 2 * 16 + 7: what is left is the last vector once more, in sums alone one by one.
TEST(InnerLoops, WhatIsLeftOverIsOneVector) {
  const Rows rows(39);
  const Stmt after = vectorise_inner(rows.body(), DType::Float32, 16, true);
  const std::string text = to_text(after);
  for (const char* again : {"vector a_t < 16", "vector b_t < 16", "for c_t < 7", "vector d_t < 16"})
    EXPECT_NE(text.find(again), std::string::npos) << again << ":\n" << text;
  EXPECT_EQ(text.find("_t_o"), std::string::npos) << text;
  EXPECT_TRUE(rows.result(after).identical(rows.result(rows.body())));
}

TEST(InnerLoops, WhatIsStoredTwiceIsNotRead) {
  const BufferRef x = std::make_shared<const Buffer>(Buffer{"x", DType::Float32, {39}, {}, Scope::Global}),
                  y = std::make_shared<const Buffer>(Buffer{"y", DType::Float32, {39}, {}, Scope::Global});
  const Expr i = variable("i");
  EXPECT_TRUE(stores_only(loop("i", 39, store(y, {i}, load(x, {i})))));
  EXPECT_FALSE(stores_only(loop("i", 39, store(y, {i}, load(y, {i}) + load(x, {i})))));
  std::vector<std::string> vectors;
  const Stmt once = vector_split(loop("i", 39, store(y, {i}, load(y, {i}) + 1.0)), "i", 16, false, &vectors);
  EXPECT_EQ(vectors, (std::vector<std::string>{"i_i", "i_t_i", "i_t_t_i"})) << to_text(once);
}

TEST(InnerLoops, ALoopThatReadsWhatItStoredStays) {
  const BufferRef y = std::make_shared<const Buffer>(Buffer{"y", DType::Float32, {65}, {}, Scope::Global});
  const Expr i = variable("i");
  const Stmt running = loop("i", 64, store(y, {i + 1}, load(y, {i}) + 1.0));
  EXPECT_EQ(to_text(vectorise_inner(running, DType::Float32, 16, true)), to_text(running));
}

// A comparison of numbers may choose between two numbers in vectors, wherever they are read. A comparison of indices that turn with
// the loop may not, nor may it within what is compared.
TEST(InnerLoops, NumbersMayChooseInVectors) {
  const Rows rows(32);
  const Expr i = variable("i"), a = variable("a"), zero = constant(DType::Float32, 0);
  const auto vectors = [&](const Expr& value) {
    const Stmt nest = loop("a", 32, store(rows.y, {i, a}, value));
    return vectorises(nest, "a", DType::Float32, {{"i", {0, 2}}, {"a", {0, 31}}});
  };
  const Expr x = load(rows.x, {i, a});
  EXPECT_TRUE(vectors(loops::select(zero < x, x, zero)));
  EXPECT_TRUE(vectors(loops::select(zero < loops::select(i < constant_int(DType::Int64, 1), x, zero), x, zero)));
  EXPECT_TRUE(vectors(loops::select(i < constant_int(DType::Int64, 1), x, zero)));
  EXPECT_FALSE(vectors(loops::select(a < constant_int(DType::Int64, 3), x, zero)));
  EXPECT_FALSE(vectors(loops::select(zero < loops::select(a < constant_int(DType::Int64, 3), x, zero), x, zero)));
  // Nor may a truth value that several choices share: it has a place of its own.
  const BufferRef truth = local_buffer("truth", DType::Bool);
  const Stmt shared = loop("a", 32,
                           block({alloc(truth), store(truth, {}, zero < x),
                                  store(rows.y, {i, a}, loops::select(load(truth, {}), x, zero))}));
  EXPECT_FALSE(vectorises(shared, "a", DType::Float32, {{"i", {0, 2}}, {"a", {0, 31}}}, true));
}

}  // namespace
}  // namespace dnn::codegen
