// Orders of axes composed and undone.
#include "layout/permutation.h"

#include <gtest/gtest.h>

namespace dnn {
namespace {

TEST(Permutation, IdentityIsEmpty) {
  EXPECT_EQ(normal({0, 1, 2}), Permutation());
  EXPECT_EQ(normal({0, 2, 1}), (Permutation{0, 2, 1}));
  EXPECT_EQ(full({}, 3), (Permutation{0, 1, 2}));
}

TEST(Permutation, ComposesFirstToLast) {
  const Permutation p = {2, 0, 1}, q = {1, 0, 2};
  EXPECT_EQ(compose(p, q), (Permutation{0, 2, 1}));  // axis i of the result is axis p[q[i]]
  EXPECT_EQ(compose({}, q), q);
  EXPECT_EQ(compose(p, {}), p);
  EXPECT_EQ(compose(p, inverse(p)), Permutation());
}

TEST(Permutation, ChangesOneOrderToAnother) {
  for (const Permutation& p : {Permutation{}, Permutation{0, 3, 1, 2}, Permutation{3, 2, 1, 0}}) {
    for (const Permutation& q : {Permutation{}, Permutation{0, 2, 3, 1}, Permutation{1, 0, 3, 2}})
      EXPECT_EQ(compose(p, change_of_order(p, q)), q);
  }
}

TEST(Permutation, PermutesSymbolsOfATypeToo) {
  const Type type(DType::Float32, {Dim("batch"), Dim(3), Dim(8), Dim(9)});
  EXPECT_EQ(permuted(type, {0, 2, 3, 1}), Type(DType::Float32, {Dim("batch"), Dim(8), Dim(9), Dim(3)}));
  EXPECT_EQ(permuted(type, {}), type);
}

}  // namespace
}  // namespace dnn
