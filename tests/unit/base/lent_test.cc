// Lending: a thing comes back, also where its borrower fails, and nobody else has it meanwhile.
#include "base/lent.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/share.h"
#include "base/threads.h"

namespace dnn {
namespace {

TEST(Lent, ComesBackFromWhoFails) {
  Lent<int> lent;
  lent.add(std::make_unique<int>(1));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(
        {
          const Lent<int>::Loan one = lent.borrow();
          ++*one;
          fail_malformed("no");
        },
        Error);
  }
  EXPECT_EQ(*lent.borrow(), 4);
  EXPECT_EQ(lent.free().size(), 1U);
}

TEST(Lent, HasOneBorrowerAtATime) {
  ThreadPool pool(4);
  Lent<std::atomic<int>> lent;
  for (int i = 0; i < pool.size(); ++i) lent.add(std::make_unique<std::atomic<int>>(0));
  std::atomic<int> met = 0;
  share_out(pool, 1000, [&](int64_t) {
    const Lent<std::atomic<int>>::Loan one = lent.borrow();
    if (++*one != 1) ++met;
    --*one;
  });
  EXPECT_EQ(met, 0);
  EXPECT_EQ(lent.free().size(), 4U);
}

}  // namespace
}  // namespace dnn
