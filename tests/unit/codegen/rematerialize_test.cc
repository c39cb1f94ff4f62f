// Sequences of steps in which some run again: they compute what the plain ones do, in less memory.
#include "codegen/rematerialize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace dnn::codegen {
namespace {

constexpr int64_t kUnit = 4096;

// The output of a step, as a number that depends on the step and on all that it reads.
uint64_t made_of(int step, const std::vector<uint64_t>& reads, size_t output) {
  uint64_t hash = 1469598103934665603U + static_cast<uint64_t>(step) * 31 + output;
  for (uint64_t read : reads) hash = (hash ^ read) * 1099511628211U;
  return hash;
}

// Runs the items; returns what each step that is kept reads. Holds each value to what the plain order makes.
std::map<int, std::vector<uint64_t>> replay(const RematerialProblem& problem, const Rematerialized& result) {
  std::map<int, std::vector<uint64_t>> kept;
  std::map<int, uint64_t> numbers;  // by version
  std::map<int, int> runs;
  for (const RematerialItem& item : result.items) {
    const RematerialStep& step = problem.steps[item.step];
    EXPECT_EQ(item.reads.size(), step.reads.size());
    EXPECT_EQ(item.makes.size(), step.makes.size());
    std::vector<uint64_t> reads;
    for (size_t k = 0; k < item.reads.size(); ++k) {
      EXPECT_EQ(result.value_of[item.reads[k]], step.reads[k]);
      EXPECT_EQ(numbers.count(item.reads[k]), 1U) << "step " << item.step << " reads what nobody made";
      reads.push_back(numbers[item.reads[k]]);
    }
    for (size_t k = 0; k < item.makes.size(); ++k) {
      EXPECT_EQ(result.value_of[item.makes[k]], step.makes[k]);
      EXPECT_TRUE(numbers.try_emplace(item.makes[k], made_of(item.step, reads, k)).second);
    }
    EXPECT_TRUE(!item.again || (step.repeatable && !step.kept));
    ++runs[item.step];
    EXPECT_TRUE(runs[item.step] == 1 || item.again);
    if (step.kept || step.makes.empty()) kept[item.step] = reads;
  }
  return kept;
}

// The most bytes alive at once.
int64_t peak_of(const RematerialProblem& problem, const Rematerialized& result) {
  std::map<int, size_t> last;
  for (size_t at = 0; at < result.items.size(); ++at) {
    for (int version : result.items[at].reads) last[version] = at;
    for (int version : result.items[at].makes) last[version] = at;
  }
  int64_t now = 0, peak = 0;
  for (size_t at = 0; at < result.items.size(); ++at) {
    const RematerialItem& item = result.items[at];
    for (int version : item.makes) now += problem.bytes[result.value_of[version]];
    peak = std::max(peak, now + problem.steps[item.step].temporary_bytes);
    std::vector<int> ended = item.makes;
    ended.insert(ended.end(), item.reads.begin(), item.reads.end());
    for (int version : ended) now -= last[version] == at ? problem.bytes[result.value_of[version]] : 0;
  }
  return peak;
}

Rematerialized plain(const RematerialProblem& problem) {
  Rematerialized result;
  for (size_t i = 0; i < problem.steps.size(); ++i)
    result.items.push_back({static_cast<int>(i), false, problem.steps[i].reads, problem.steps[i].makes});
  for (size_t v = 0; v < problem.bytes.size(); ++v) result.value_of.push_back(static_cast<int>(v));
  return result;
}

// Layers forward, then backward, each of which reads its layer's input and the gradient of its output.
RematerialProblem chain(int layers, bool repeatable) {
  RematerialProblem problem;
  for (int i = 0; i <= layers; ++i) {
    problem.bytes.push_back(kUnit);
    const std::vector<int> reads = i == 0 ? std::vector<int>() : std::vector<int>{i - 1};
    problem.steps.push_back({reads, {i}, 1, 0, repeatable && i > 0, false});
  }
  for (int i = layers; i > 0; --i) {
    problem.bytes.push_back(kUnit);
    const int gradient = static_cast<int>(problem.bytes.size()) - 1;
    problem.steps.push_back({{i - 1, i == layers ? i : gradient - 1}, {gradient}, 2, 0, false, true});
  }
  return problem;
}

// With one more forward pass, of three, memory grows with the root of the depth: checkpoints and what lies between two of them.
TEST(Rematerialize, AChainKeepsCheckpoints) {
  const RematerialProblem problem = chain(64, true);
  const Rematerialized result = rematerialize(problem);
  EXPECT_EQ(replay(problem, result), replay(problem, plain(problem)));
  EXPECT_EQ(result.before_bytes, 66 * kUnit);
  EXPECT_LE(result.after_bytes, 20 * kUnit);
  EXPECT_LE(peak_of(problem, result), result.after_bytes);
  EXPECT_GT(result.added, 0);
  EXPECT_LE(result.added, problem.most_added);
}

TEST(Rematerialize, WhatMustNotRunAgainDoesNot) {
  const RematerialProblem problem = chain(64, false);
  const Rematerialized result = rematerialize(problem);
  EXPECT_EQ(result.items.size(), problem.steps.size());
  EXPECT_EQ(result.after_bytes, result.before_bytes);
  EXPECT_EQ(result.added, 0);
}

// A cheap step between two dear ones: what it makes goes, and what it reads stays.
TEST(Rematerialize, TheCheapOfTwoRunsAgain) {
  RematerialProblem problem;
  const int blocks = 8;
  for (int i = 0; i < blocks; ++i) {
    const std::vector<int> reads = i == 0 ? std::vector<int>() : std::vector<int>{2 * i - 1};
    problem.steps.push_back({reads, {2 * i}, 1000, 0, true, false});
    problem.steps.push_back({{2 * i}, {2 * i + 1}, 1, 0, true, false});
  }
  problem.bytes.assign(2 * blocks, kUnit);
  for (int i = blocks - 1; i >= 0; --i) problem.steps.push_back({{2 * i, 2 * i + 1}, {}, 2000, 0, false, true});
  const Rematerialized result = rematerialize(problem);
  EXPECT_EQ(replay(problem, result), replay(problem, plain(problem)));
  EXPECT_LE(result.after_bytes, (blocks + 2) * kUnit);
  int cheap = 0;
  for (const RematerialItem& item : result.items) cheap += item.again && item.step % 2 == 1 ? 1 : 0;
  EXPECT_GE(cheap, blocks - 3);
}

TEST(Rematerialize, RandomSequencesComputeTheSame) {
  std::mt19937 random(7);
  const auto draw = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int fewer = 0;
  for (int round = 0; round < 200; ++round) {
    RematerialProblem problem;
    problem.most_added = 0.5;
    const int steps = 5 + draw(40);
    for (int i = 0; i < steps; ++i) {
      RematerialStep step;
      const int made = static_cast<int>(problem.bytes.size());
      for (int k = draw(4); k > 0 && made > 0; --k) {
        const int read = draw(2) == 0 ? draw(made) : std::max(0, made - 1 - draw(3));
        if (std::find(step.reads.begin(), step.reads.end(), read) == step.reads.end()) step.reads.push_back(read);
      }
      for (int k = 1 + draw(2); k > 0; --k) {
        step.makes.push_back(static_cast<int>(problem.bytes.size()));
        problem.bytes.push_back(kUnit * (1 + draw(20)));
      }
      step.cost = draw(10);
      step.temporary_bytes = draw(5) == 0 ? kUnit * draw(20) : 0;
      step.kept = draw(4) == 0 || i + 1 == steps;
      step.repeatable = !step.kept && draw(5) != 0;
      problem.steps.push_back(step);
    }
    const Rematerialized result = rematerialize(problem);
    EXPECT_EQ(replay(problem, result), replay(problem, plain(problem))) << "round " << round;
    EXPECT_LE(peak_of(problem, result), result.after_bytes);
    EXPECT_LE(result.after_bytes, result.before_bytes);
    EXPECT_LE(result.added, problem.most_added);
    fewer += result.after_bytes < result.before_bytes ? 1 : 0;
  }
  EXPECT_GT(fewer, 50);
}

}  // namespace
}  // namespace dnn::codegen
