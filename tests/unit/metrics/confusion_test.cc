// Confusion's cells, beside a map that counts the same.
#include "metrics/confusion.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace dnn::metrics {
namespace {

TEST(Confusion, CountsWhatAMapCounts) {
  std::mt19937 random(3);
  std::map<std::pair<int64_t, int64_t>, int64_t> expected;
  Confusion confusion;
  ClassTally tally;
  for (int i = 0; i < 50000; ++i) {
    const int64_t truth = static_cast<int64_t>(random() % 150) - 20,
                  predicted = static_cast<int64_t>(random() % 300) - 20;
    confusion.add(truth, predicted);
    tally.add(truth, predicted);
    ++expected[{truth, predicted}];
    if (i == 6000) confusion.shrink();
    if (i % 20000 == 7) {
      EXPECT_EQ(confusion.cells().size(), expected.size());
    }
  }
  const Confusion::Cells& cells = confusion.cells();
  ASSERT_EQ(cells.size(), expected.size());
  size_t i = 0;
  for (const auto& [cell, count] : expected) {
    EXPECT_EQ(cells[i].first, cell);
    EXPECT_EQ(cells[i++].second, count);
    EXPECT_EQ(cells.find(cell)->second, count);
  }
  EXPECT_EQ(cells.find({-21, 0}), cells.end());
  EXPECT_EQ(cells.find({10000, 0}), cells.end());

  const std::vector<ClassCounts> from_cells = confusion.classes(), from_tally = tally.classes();
  ASSERT_EQ(from_cells.size(), from_tally.size());
  for (size_t c = 0; c < from_cells.size(); ++c) {
    EXPECT_EQ(from_cells[c].label, from_tally[c].label);
    EXPECT_EQ(from_cells[c].n_true, from_tally[c].n_true);
    EXPECT_EQ(from_cells[c].n_predicted, from_tally[c].n_predicted);
    EXPECT_EQ(from_cells[c].n_both, from_tally[c].n_both);
  }
}

TEST(Confusion, OfNothingIsEmpty) {
  Confusion confusion;
  confusion.shrink();
  EXPECT_TRUE(confusion.cells().empty());
  EXPECT_TRUE(confusion.classes().empty());
  EXPECT_EQ(confusion.cells().find({0, 0}), confusion.cells().end());
}

}  // namespace
}  // namespace dnn::metrics
