// What a cached package is found by: another option is another key, and what only costs time is not in it.
#include "compile/cache_key.h"

#include <gtest/gtest.h>

#include <set>

namespace dnn {
namespace {

TEST(CacheKey, AnotherOptionIsAnotherKey) {
  std::set<std::string> keys;
  const auto expect_new = [&](const char* what, const auto& change) {
    CompileOptions options;
    change(&options);
    const std::optional<std::string> key = serialised(options);
    ASSERT_TRUE(key.has_value()) << what;
    EXPECT_TRUE(keys.insert(*key).second) << what << ": " << *key;
  };
  expect_new("defaults", [](CompileOptions*) {});
  expect_new("level", [](CompileOptions* o) { o->opt = 4; });
  expect_new("device", [](CompileOptions* o) { o->device = "opencl"; });
  expect_new("code for GPUs", [](CompileOptions* o) { o->device = "opencl", o->processor = kGpu; });
  expect_new("element type", [](CompileOptions* o) { o->element = DType::Float64; });
  expect_new("an instruction set", [](CompileOptions* o) { o->isas = {known_isas().front()}; });
  expect_new("two of them", [](CompileOptions* o) { o->isas = {known_isas().front(), known_isas().back()}; });
  expect_new("in another order", [](CompileOptions* o) { o->isas = {known_isas().back(), known_isas().front()}; });
  expect_new("processor", [](CompileOptions* o) { o->processor = known_processors().back(); });
  expect_new("passes", [](CompileOptions* o) { o->pass_changes = "+fuse-ops"; });
  expect_new("their end", [](CompileOptions* o) { o->stop_after = 1; });
  expect_new("what looks like both", [](CompileOptions* o) { o->pass_changes = "+fuse-ops 1"; });
  expect_new("nodes run again", [](CompileOptions* o) { o->recompute = true; });
  expect_new("a schedule", [](CompileOptions* o) { o->schedules["avx2"]["conv_1"].tile = 4; });
  expect_new("of another kernel", [](CompileOptions* o) { o->schedules["avx2"]["conv_2"].tile = 4; });
  expect_new("of another instruction set", [](CompileOptions* o) { o->schedules["avx512"]["conv_1"].tile = 4; });
  expect_new("another schedule", [](CompileOptions* o) { o->schedules["avx2"]["conv_1"].tile = 5; });
}

TEST(CacheKey, WhatCostsTimeAloneIsNotInIt) {
  CompileOptions options;
  const std::optional<std::string> before = serialised(options);
  options.build.jobs = 3;
  options.build.cache_folder = "/somewhere";
  EXPECT_EQ(serialised(options), before);
}

// A function may change anything, and wants to be called.
TEST(CacheKey, NoneWhereAFunctionHasASay) {
  const auto key_of = [](const auto& change) {
    CompileOptions options;
    change(&options);
    return serialised(options);
  };
  const std::vector<Pass> rows;
  EXPECT_FALSE(key_of([](CompileOptions* o) { o->emit = [](const std::string&, const std::string&) {}; }));
  EXPECT_FALSE(key_of([](CompileOptions* o) { o->on_passes = [](const std::vector<PassLog>&) {}; }));
  EXPECT_FALSE(key_of([](CompileOptions* o) { o->on_recompute = [](const codegen::Recomputation&) {}; }));
  EXPECT_FALSE(key_of([](CompileOptions* o) { o->on_workload = [](const codegen::Workload&) {}; }));
  EXPECT_FALSE(key_of([](CompileOptions* o) { o->on_c_text = [](const codegen::CText&) {}; }));
  EXPECT_FALSE(key_of(
      [](CompileOptions* o) { o->allow = [](const Graph&, const std::string&, const Patch&) { return true; }; }));
  EXPECT_FALSE(key_of([&](CompileOptions* o) { o->rows = &rows; }));
}

}  // namespace
}  // namespace dnn
