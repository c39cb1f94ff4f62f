// Halves of tasks compute what the whole does, each element once.
#include "codegen/halve_tasks.h"

#include <gtest/gtest.h>

#include "loop_case.h"

namespace dnn::codegen {
namespace {

using namespace loops;

constexpr int64_t kGroups = 3, kColumns = 4;

// y[g, r, c] += 1 for all rows but the last, which is added to outside of the loop over r.
Kernel counting(int64_t rows) {
  const BufferRef y = global("y", {kGroups, rows, kColumns});
  const auto count = [&](const Expr& row) {
    const std::vector<Expr> at = {variable("g"), row, variable("c")};
    return loop("c", kColumns, store(y, at, load(y, at) + constant(DType::Float32, 1)));
  };
  const Stmt body = block({loop("r", rows - 1, count(variable("r"))), count(constant_int(DType::Int64, rows - 1))});
  return {"counting", "", "map", {y}, loop("g", kGroups, body)};
}

TEST(HalveTasks, EachElementIsComputedOnce) {
  for (int64_t rows = 2; rows <= 8; ++rows) {
    Kernel kernel = counting(rows);
    kernel.body = halve_tasks(kernel.body, "g", "r");
    const std::string text = to_text(kernel);
    EXPECT_NE(text.find("for which_half < 2"), std::string::npos) << text;
    std::vector<Tensor> arguments = {Tensor(DType::Float32, kernel.arguments[0]->shape)};
    evaluate(kernel, arguments);
    for (int64_t i = 0; i < arguments[0].size(); ++i) EXPECT_EQ(arguments[0].data<float>()[i], 1) << i << "\n" << text;
  }
}

TEST(HalveTasks, AHalfComputesItsRowsAlone) {
  Kernel kernel = counting(8);  // 7 in the loop
  kernel.body = halve_tasks(kernel.body, "g", "r");
  for (const int64_t half : {0, 1}) {
    Kernel one = kernel;
    const Stmt& halves = kernel.body->children[0];
    one.body =
        loop("g", kGroups, substitute(halves->children[0], {{halves->variable, constant_int(DType::Int64, half)}}));
    std::vector<Tensor> arguments = {Tensor(DType::Float32, kernel.arguments[0]->shape)};
    evaluate(one, arguments);
    for (int64_t i = 0; i < arguments[0].size(); ++i) {
      const int64_t row = i / kColumns % 8;
      EXPECT_EQ(arguments[0].data<float>()[i], (row >= 4) == (half == 1) ? 1 : 0) << row << " of half " << half;
    }
  }
}

// What is left over of the rows, with its local, is the last half's alone; a local that the rows read is everybody's.
TEST(HalveTasks, WhatIsLeftOverIsComputedOnce) {
  const BufferRef y = global("y", {kGroups, 9}), x = global("x", {kGroups, 9});
  const BufferRef sum = local_buffer("sum", DType::Float32), scale = local_buffer("scale", DType::Float32);
  const Expr g = variable("g"), r = variable("r");
  const auto rest = [&](const Expr& value) {
    return block({alloc(sum), store(sum, {}, value), store(y, {g, Expr(8)}, load(sum, {}))});
  };
  const Stmt rows = loop("r", 8, store(y, {g, r}, load(x, {g, r})));
  const Stmt left_over = loop("g", kGroups, block({rows, rest(load(x, {g, Expr(8)}))}));
  const std::string text = to_text(halve_tasks(left_over, "g", "r"));
  EXPECT_LT(text.find("if 1 <= which_half"), text.find("local sum")) << text;

  const Stmt shared = block({alloc(scale), store(scale, {}, load(x, {g, Expr(0)})), rest(load(scale, {})),
                             loop("r", 8, store(y, {g, r}, load(x, {g, r}) * load(scale, {})))});
  Kernel kernel{"shared", "", "map", {y, x}, loop("g", kGroups, shared)};
  const auto result = [&] {
    std::vector<Tensor> arguments = {Tensor(DType::Float32, y->shape), Tensor(DType::Float32, x->shape)};
    for (int64_t i = 0; i < arguments[1].size(); ++i) arguments[1].mutable_data<float>()[i] = static_cast<float>(i + 2);
    evaluate(kernel, arguments);
    return arguments[0];
  };
  const Tensor before = result();
  kernel.body = halve_tasks(kernel.body, "g", "r");
  EXPECT_NE(to_text(kernel).find("which_half"), std::string::npos);
  EXPECT_TRUE(result().identical(before)) << to_text(kernel);
}

TEST(HalveTasks, TurnsThatShareWhatTheyStoreToStayTogether) {
  const BufferRef y = global("y", {kGroups, 8}), x = global("x", {kGroups, 8});
  const BufferRef sum = local_buffer("sum", DType::Float32);
  const std::vector<Expr> at = {variable("g"), variable("r")};
  const Stmt shared_local = loop("g", kGroups,
                                 block({alloc(sum), store(sum, {}, constant(DType::Float32, 0)),
                                        loop("r", 8, store(sum, {}, load(sum, {}) + load(x, at))),
                                        store(y, {variable("g"), Expr(0)}, load(sum, {}))}));
  const Stmt one_place = loop(
      "g", kGroups, loop("r", 8, store(y, {variable("g"), Expr(0)}, load(y, {variable("g"), Expr(0)}) + load(x, at))));
  const Stmt no_rows = loop("g", kGroups, store(y, {variable("g"), Expr(0)}, constant(DType::Float32, 0)));
  for (const Stmt& s : {shared_local, one_place, no_rows}) EXPECT_EQ(to_text(halve_tasks(s, "g", "r")), to_text(s));
}

}  // namespace
}  // namespace dnn::codegen
