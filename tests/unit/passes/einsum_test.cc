// Einsum as MatMul: the same numbers, for every order of axes.
#include <gtest/gtest.h>

#include "graph_case.h"
#include "passes/einsum_products.h"

namespace dnn {
namespace {

struct Case {
  const char* equation;
  const char *a, *b;  // shapes
  const char* ops;    // of the product, in order; "" where the Einsum stays
};

Graph network(const Case& c, bool constant_a, bool constant_b) {
  const auto operand = [](const char* name, const char* shape, bool constant, int seed) {
    return constant ? cat("  const ", name, ": float32[", shape, "] = random(", seed, ")\n")
                    : cat("  input ", name, ": float32[", shape, "]\n");
  };
  return typed(cat(operand("a", c.a, constant_a, 1), operand("b", c.b, constant_b, 2),
                   "  y = Einsum(a, b) {equation = \"", c.equation, "\"}\n  output y"));
}

void expect_product(const Case& c, bool constant_a, bool constant_b) {
  const Graph before = network(c, constant_a, constant_b);
  Graph after = before;
  const std::optional<Patch> patch = einsum_as_product(after, after.order()[0]);
  ASSERT_EQ(patch.has_value(), *c.ops != '\0') << c.equation;
  if (!patch) return;
  EXPECT_TRUE(patch->apply(after));
  if (!constant_a && !constant_b) {
    EXPECT_EQ(ops_of(after), c.ops) << c.equation;
  }
  infer_types(after);
  EXPECT_EQ(before.value(before.outputs[0]).type.text(), after.value(after.outputs[0]).type.text()) << c.equation;
  expect_same(before, after, 1e-5);
}

TEST(EinsumProducts, ComputeTheSame) {
  constexpr Case kCases[] = {
      {"ij,jk->ik", "3,4", "4,5", "MatMul"},
      {"ij,kj->ik", "3,4", "5,4", "Transpose MatMul"},
      {"ij,jk->ki", "3,4", "4,5", "MatMul Transpose"},
      {"ji,jk", "4,3", "4,5", "Transpose MatMul"},
      {"bhqd,bhkd->bhqk", "2,3,4,5", "2,3,6,5", "Transpose MatMul"},
      {"bqhd,bkhd->bhqk", "2,4,3,5", "2,6,3,5", "Transpose Transpose MatMul"},
      {"bhqk,bkhd->bqhd", "2,3,4,6", "2,6,3,5", "Transpose MatMul Transpose"},
      {"abc,cde->abde", "2,3,4", "4,5,6", "Reshape MatMul Reshape"},
      {"abcd,cde->abe", "2,3,4,5", "4,5,6", "Reshape Reshape MatMul"},
      {"abc,bcd->ad", "2,3,4", "3,4,5", "Reshape Reshape MatMul"},
      {"i,i->", "7", "7", "Reshape Reshape MatMul Reshape"},
      {"i,ij->j", "3", "3,4", "Reshape MatMul Reshape"},
      {"ij,j->i", "3,4", "4", "Reshape MatMul Reshape"},
      {"abij,acjk->aibck", "2,3,4,5", "2,6,5,7", "Transpose Reshape Transpose Reshape MatMul Reshape"},
      {"...ij,...jk->...ik", "2,3,4", "2,4,5", "MatMul"},
      // A letter twice, a sum over one operand alone, no sum at all, and an ellipsis that broadcasts.
      {"ii,ij->j", "3,3", "3,4", ""},
      {"ij,k->k", "3,4", "5", ""},
      {"ij,ij->ij", "3,4", "3,4", ""},
      {"...ij,...jk->...ik", "2,3,4", "1,4,5", ""},
  };
  for (const Case& c : kCases) {
    for (const auto& [a, b] : {std::pair(false, false), std::pair(true, false), std::pair(false, true)})
      expect_product(c, a, b);
  }
}

// Open extents stay open where no axes have to be joined that they belong to.
TEST(EinsumProducts, LeaveExtentsOpen) {
  for (const Case& c : {Case{"abc,cde->abde", "batch,tokens,4", "4,5,6", "Reshape MatMul Reshape"},
                        Case{"bhqd,bhkd->bhqk", "batch,3,tokens,5", "batch,3,tokens,5", "Transpose MatMul"}}) {
    Graph graph = network(c, false, false);
    const std::string type = graph.value(graph.outputs[0]).type.text();
    const std::optional<Patch> patch = einsum_as_product(graph, graph.order()[0]);
    ASSERT_TRUE(patch) << c.equation;
    EXPECT_TRUE(patch->apply(graph));
    EXPECT_EQ(ops_of(graph), c.ops);
    infer_types(graph);
    EXPECT_EQ(graph.value(graph.outputs[0]).type.text(), type);
  }
  const Graph graph = network({"abij,acjk->aibck", "2,rows,4,5", "2,6,5,7", ""}, false, false);
  EXPECT_FALSE(einsum_as_product(graph, graph.order()[0]));
}

}  // namespace
}  // namespace dnn
