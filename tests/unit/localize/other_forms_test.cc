// Networks under other names: what is found does not follow names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "faults/fault.h"
#include "faults/names.h"
#include "graph/tensor_text.h"
#include "localize/localize.h"
#include "localize/repair.h"
#include "unit/faults/network.h"
#include "unit/localize/isolated.h"

namespace dnn {
namespace {

using Names = std::vector<std::string>;

const char* const kRenamings[] = {"names-random", "names-shifted", "names-permuted"};
const Shape kShape = {1, 3, 8, 8};

struct Judged {
  LocalizeReport report;
  std::vector<SegmentRepair> repairs;
  Graph repaired;
};

Judged judged(const Graph& source, const Graph& target, const Shape& shape = kShape, bool repair = false) {
  OwnErrorOptions options;
  options.keep = 2;
  OwnErrors own(source, target, options);
  Localizer localizer(&source, &target);
  localizer.measure_own(&own);
  for (uint64_t seed : {31, 32}) {
    const Tensor x = random_tensor(DType::Float32, shape, seed);
    localizer.add(trace_of(source, x), trace_of(target, x));
  }
  Judged result{localizer.finish({}), {}, target};
  if (!repair) return result;
  std::vector<size_t> wrong;
  for (const Finding& finding : result.report.findings) wrong.push_back(finding.own);
  result.repairs = search_repairs(source, target, own, wrong);
  EditSource edits(source);
  apply_edits(edits_together(source, target, &result.repairs), edits, result.repaired);
  infer_types(result.repaired);
  return result;
}

// The source's nodes of each finding.
std::string found(const LocalizeReport& report) {
  std::string text;
  for (const Finding& f : report.findings) text += join(f.source.nodes) + "; ";
  return text;
}

TEST(OtherNames, OfAHealthyNetworkAreNoFault) {
  const Graph source = typed(kFaultyNet);
  for (const char* renaming : kRenamings) {
    SCOPED_TRACE(renaming);
    for (uint64_t seed : {1, 2, 3}) {
      Graph target = source;
      inject(target, renaming, seed);
      infer_types(target);
      EXPECT_EQ(interpret(source, {random_tensor(DType::Float32, kShape, 1)})[0].identical(
                    interpret(target, {random_tensor(DType::Float32, kShape, 1)})[0]),
                true);
      const Judged result = judged(source, target);
      EXPECT_EQ(found(result.report), "");
      EXPECT_TRUE(result.report.agree());
    }
  }
}

// Two layers without parameters that were exchanged are told apart by names alone: under others they are one finding.
TEST(OtherNames, LeaveTheFindingsOfEveryClassOfFaults) {
  const Graph source = typed(kFaultyNet);
  for (const Fault& fault : all_faults()) {
    Graph faulty = parse_graph(kFaultyNet);
    const Injection injection = inject(faulty, fault.name, 3);
    infer_types(faulty);
    const std::string expected = found(judged(source, faulty).report);
    for (const char* renaming : kRenamings) {
      SCOPED_TRACE(cat(renaming, " ", injection.text()));
      Graph target = faulty;
      inject(target, renaming, 5);
      infer_types(target);
      const std::string under_others = found(judged(source, target).report);
      if (injection.text().find("exchanged with node") == std::string::npos) {
        EXPECT_EQ(under_others, expected);
      } else {
        EXPECT_EQ(expected, "lrn4; div4; ");
        EXPECT_EQ(under_others, "lrn4, div4, quantize4; ");
      }
    }
  }
}

}  // namespace
}  // namespace dnn
