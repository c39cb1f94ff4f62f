// The tables of targets: rows that belong together, and what is chosen out of them.
#include "target/target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/simd.h"

namespace dnn {
namespace {

TEST(Target, EachRowOfCodeHasABackendAndEachBackendRows) {
  std::set<std::pair<Language, std::string>> names;
  for (const Isa& isa : isas()) {
    EXPECT_TRUE(names.emplace(isa.language, isa.name).second) << isa.name << " is there twice";
    EXPECT_EQ(isa.backend() == nullptr, isa.language == Language::None) << isa.name;
    EXPECT_GT(isa.vector_bytes, 0) << isa.name;
    EXPECT_EQ(find_isa(isa.language, isa.name), &isa);
  }
  for (const Backend& backend : backends()) {
    EXPECT_EQ(backend_of_device(backend.device), &backend);
    EXPECT_EQ(find_backend(backend.name), &backend);
    EXPECT_FALSE(isas_of(backend.language, false).empty() && isas_of(backend.language, true).empty()) << backend.name;
  }
  EXPECT_EQ(backend_of_device("reference"), nullptr);
  EXPECT_EQ(find_isa(Language::C, "z80"), nullptr);
}

// Each row of C includes the one before it, so that the best that runs is the last one that does.
TEST(Target, InstructionSetsGrow) {
  EXPECT_EQ(known_isas(), (std::vector<std::string>{"x86-64", "avx2", "avx512"}));
  const std::vector<const Isa*> rows = isas_of(Language::C, false);
  for (size_t i = 1; i < rows.size(); ++i) {
    EXPECT_GT(rows[i]->vector_bytes, rows[i - 1]->vector_bytes);
    for (CpuFeature feature : rows[i - 1]->needs)
      EXPECT_NE(std::find(rows[i]->needs.begin(), rows[i]->needs.end(), feature), rows[i]->needs.end());
  }
  const std::vector<std::string> here = supported_isas();
  ASSERT_FALSE(here.empty());
  EXPECT_TRUE(std::equal(here.begin(), here.end(), known_isas().begin()));
  EXPECT_EQ(find_isa(Language::C, here.back())->vector_bytes, widest_vector_bytes());
}

// Such a row adds to the one before it, and only networks in its type have code for it.
TEST(Target, RowsWithDotProductsAreForNetworksInTheirType) {
  const std::vector<const Isa*> plain = isas_of(Language::C, false),
                                brain = isas_of(Language::C, false, DType::BFloat16);
  EXPECT_EQ(brain.size(), plain.size() + 1);
  EXPECT_EQ(known_isas(DType::BFloat16), (std::vector<std::string>{"x86-64", "avx2", "avx512", "avx512-bf16"}));
  EXPECT_EQ(known_isas(DType::Float16), known_isas());
  const Isa& row = *brain.back();
  EXPECT_EQ(dtype_size(row.dot.left) * static_cast<size_t>(row.dot.k), dtype_size(row.dot.sum));
  EXPECT_EQ(row.vector_bytes, plain.back()->vector_bytes);
  for (CpuFeature feature : plain.back()->needs)
    EXPECT_NE(std::find(row.needs.begin(), row.needs.end(), feature), row.needs.end());
  for (const int level : {0, 1, 2, 3, 4}) {
    EXPECT_EQ(make_target(row, "zen4", level, DType::BFloat16).uses_dot(), level >= 3);
    EXPECT_FALSE(make_target(row, "zen4", level, DType::Float16).uses_dot());
    EXPECT_FALSE(make_target(*plain.back(), "zen4", level, DType::BFloat16).uses_dot());
  }
  const std::vector<std::string> here = supported_isas(DType::BFloat16);
  EXPECT_EQ(here.back() == row.name, row.runs_here() && processor_for(processor_kind(), 64).fast_pairs);
}

TEST(Target, ExtensionsAddInstructionsToARow) {
  for (const IsaExtension& extension : isa_extensions()) {
    ASSERT_NE(find_isa(extension.language, extension.isa), nullptr) << extension.name;
    EXPECT_FALSE(extension.needs.empty()) << extension.name;
    EXPECT_NE(extension.dot.k > 0, extension.matrix.k > 0) << extension.name;
    const DotProduct& dot = extension.dot;
    if (dot.k > 0) {
      EXPECT_EQ(dtype_size(dot.left) * static_cast<size_t>(dot.k), dtype_size(dot.sum)) << extension.name;
    }
    const std::vector<std::string> here = supported_extensions();
    EXPECT_EQ(extension.is_here(), std::find(here.begin(), here.end(), extension.name) != here.end());
  }
}

TEST(Target, ProcessorsFallBackToGenericOnes) {
  EXPECT_EQ(known_processors(), (std::vector<std::string>{"generic", "zen4", "zen5"}));
  EXPECT_STREQ(processor_for("zen5", 64).name, "zen5");
  EXPECT_STREQ(processor_for("zen5", 32).name, "generic");
  EXPECT_EQ(processor_for("zen5", 32).vector_bytes, 32);
  EXPECT_EQ(processor_for("z80", 64).vector_bytes, 64);
  EXPECT_EQ(processor_for(kGeneric, 16).vector_bytes, 0);
  for (const int64_t bytes : {4, 16, 64}) EXPECT_STREQ(processor_for(kGpu, bytes).name, kGpu);
  const std::vector<std::string>& known = known_processors();
  EXPECT_NE(std::find(known.begin(), known.end(), processor_kind()), known.end());
  for (const Processor& row : processors()) {
    for (size_t i = 1; i < std::size(row.speeds.tiles); ++i)
      EXPECT_GT(row.speeds.tiles[i].bytes, row.speeds.tiles[i - 1].bytes);
    EXPECT_EQ(row.speeds.weights[1].bytes, row.speeds.tiles[2].bytes) << "the last reaches as far as there is memory";
  }
}

// A higher level breaks every promise that a lower one does, and blocks of channels are another order of sums.
TEST(Target, LevelsGrow) {
  const auto promises = [](const Level& l) {
    return std::vector<bool>{l.rewrites, l.reassociate, l.contract,      l.flush_denormals, l.approximate_division,
                             l.chunk,    l.views,       l.samples_alone, l.matrix_units};
  };
  ASSERT_EQ(levels().size(), 5U);
  for (size_t i = 0; i < levels().size(); ++i) {
    EXPECT_EQ(levels()[i].number, static_cast<int>(i));
    EXPECT_TRUE(!levels()[i].chunk || levels()[i].reassociate);
    for (size_t p = 0; i > 0 && p < promises(levels()[i]).size(); ++p)
      EXPECT_TRUE(promises(levels()[i])[p] || !promises(levels()[i - 1])[p]) << "-O" << i << " promise " << p;
  }
  EXPECT_EQ(find_level(5), nullptr);
  EXPECT_EQ(find_level(-1), nullptr);
  EXPECT_EQ(level_of(99).number, 4);
  EXPECT_EQ(level_of(-1).number, 0);
}

TEST(Target, WhatALevelAllowsAndADeviceCan) {
  const auto target = [](Language language, bool gpu, int level) {
    return make_target(*isas_of(language, gpu).front(), kGeneric, level);
  };
  EXPECT_TRUE(target(Language::C, false, 3).takes_samples_alone());
  EXPECT_FALSE(target(Language::C, false, 2).takes_samples_alone());
  EXPECT_FALSE(target(Language::OpenCl, false, 3).takes_samples_alone());
  EXPECT_TRUE(target(Language::OpenCl, true, 3).has_views());
  EXPECT_FALSE(target(Language::Cuda, true, 4).has_views());
  EXPECT_TRUE(target(Language::Cuda, true, 4).uses_matrix_unit());
  EXPECT_FALSE(target(Language::Cuda, true, 3).uses_matrix_unit());
  EXPECT_FALSE(target(Language::C, false, 4).uses_matrix_unit());
  EXPECT_FALSE(target(Language::None, false, 4).has_views());
}

// OpenCL's schedules were not measured by kind of processor.
TEST(Target, ChunksGoByTheProcessorWhereTheyWereMeasured) {
  EXPECT_EQ(make_target(*find_isa(Language::C, "avx512"), "zen4", 3).chunks().nearest_from, 24);
  EXPECT_EQ(make_target(*find_isa(Language::C, "avx2"), "zen4", 3).chunks().nearest_from, INT64_MAX);
  EXPECT_EQ(make_target(*find_isa(Language::OpenCl, "float16"), "zen4", 3).chunks().nearest_from, INT64_MAX);
}

TEST(Target, LanesGoByTheSizeOfAnElement) {
  const Isa& avx512 = *find_isa(Language::C, "avx512");
  EXPECT_EQ(avx512.lanes(DType::Float32), 16);
  EXPECT_EQ(avx512.lanes(DType::Float64), 8);
  EXPECT_EQ(avx512.lanes(DType::Int8), 64);
  EXPECT_EQ(find_isa(Language::OpenCl, "gpu")->lanes(DType::Float64), 1);
}

}  // namespace
}  // namespace dnn
