// Which processors --affinity names on machines of one and of several kinds of cores.
#include "infer/affinity.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace dnn {
namespace {

using List = std::vector<int>;
using Classes = std::vector<List>;

const List kAllowed = {0, 1, 2, 3, 4, 5, 6, 7};
const Classes kAlike = {kAllowed}, kHybrid = {{6, 7}, {4, 5}, {0, 1, 2, 3}};

std::string refusal(const std::string& asked, const Classes& classes, const List& allowed) {
  try {
    choose_processors(asked, classes, allowed);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Usage);
    return e.what();
  }
  return "none";
}

TEST(Affinity, AListKeepsItsOrder) {
  EXPECT_EQ(choose_processors("5,0-2", kAlike, kAllowed), (List{5, 0, 1, 2}));
  EXPECT_EQ(choose_processors("7", {}, List{3, 7}), List{7});
}

TEST(Affinity, KindsAreTheFastestAndTheSlowestThatMayBeUsed) {
  EXPECT_EQ(choose_processors("big", kHybrid, kAllowed), (List{6, 7}));
  EXPECT_EQ(choose_processors("little", kHybrid, kAllowed), (List{0, 1, 2, 3}));
  EXPECT_EQ(choose_processors("little", kHybrid, List{1, 6}), List{1});
  EXPECT_EQ(refusal("big", kHybrid, {0, 1, 4}), "--affinity big: none of 6-7 for this process, which may use 0-1,4");
}

TEST(Affinity, WhereCoresAreAlikeAllAreBig) {
  for (const Classes& classes : {kAlike, Classes()}) {
    EXPECT_EQ(choose_processors("big", classes, List{2, 3}), (List{2, 3}));
    EXPECT_EQ(refusal("little", classes, kAllowed), "--affinity little: all cores of this machine are alike");
  }
}

TEST(Affinity, WhatIsRefusedIsNamed) {
  EXPECT_EQ(refusal("1,8", kAlike, kAllowed), "--affinity 1,8: no processor 8 for this process, which may use 0-7");
  EXPECT_EQ(refusal("0", kAlike, {1, 3}), "--affinity 0: no processor 0 for this process, which may use 1,3");
  EXPECT_EQ(refusal("0-2,1", kAlike, kAllowed), "--affinity 0-2,1: processor 1 is there twice");
  for (const char* text : {"", "Big", "0;1", "1-"})
    EXPECT_EQ(refusal(text, kAlike, kAllowed),
              cat("--affinity \"", text, "\": neither a list of processors, as 0,2-5, nor big, little"));
}

}  // namespace
}  // namespace dnn
