// What dnn-localize says, in a report: errors by sample as a heat map, what is left out of it, and text that is not its.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "report/report.h"

namespace dnn::report {
namespace {

std::string layer_text(const std::string& name, double added, bool diverges) {
  return cat(R"({"source": {"name": ")", name, R"(", "node": "", "op": "Relu"}, "error": 1, "added": )", added,
             R"(, "max_abs": 1, "diverges": )", diverges ? "true" : "false", R"(, "makes": false})");
}

std::string by_sample(const std::vector<std::string>& samples, const std::vector<std::string>& rows, int left_out = 0) {
  std::vector<std::string> maps;
  for (const std::string& sample : samples)
    maps.push_back(cat(R"({"name": ")", sample, R"(", "relabelled": )", sample == "b/two" ? "true}" : "false}"));
  return cat(R"("by_sample": {"samples": [)", join(maps), R"(], "left_out": )", left_out, R"(, "errors": [)",
             join(rows), "]}");
}

std::string text_of(const std::vector<std::string>& layers, const std::string& by_sample) {
  return cat(R"({"source": "a", "target": "b", "samples": 2, "layers": [)", join(layers), "], ", by_sample, "}");
}

const std::string kTwoLayers = text_of({layer_text("agrees", 0, false), layer_text("parts", 1, true)},
                                       by_sample({"a/one", "b/two"}, {"[0, null]", R"([0.25, "inf"])"}));

std::string page_of(const std::string& json) {
  Data data;
  data.localizations.push_back(parse_localization(json));
  return html(make_document(data, {}));
}

bool holds(const std::string& page, const std::string& text) { return page.find(text) != std::string::npos; }

TEST(Localization, ErrorsBySample) {
  const Localization found = parse_localization(kTwoLayers);
  ASSERT_EQ(found.samples.size(), 2u);
  EXPECT_EQ(found.samples[1].name, "b/two");
  EXPECT_FALSE(found.samples[0].relabelled);
  EXPECT_TRUE(found.samples[1].relabelled);
  ASSERT_EQ(found.sample_errors.size(), 2u);
  EXPECT_EQ(found.sample_errors[0][0], 0.0);
  EXPECT_FALSE(found.sample_errors[0][1].has_value());
  EXPECT_EQ(found.sample_errors[1][0], 0.25);
  EXPECT_TRUE(std::isinf(*found.sample_errors[1][1]));
}

TEST(Localization, HeatMapOfDivergingLayers) {
  const std::string page = page_of(kTwoLayers);
  EXPECT_TRUE(holds(page, "Divergence by layer and sample, b"));
  EXPECT_TRUE(holds(page, "What is infinite counts as the largest. *: another label in the target."));
  EXPECT_TRUE(holds(page, "two *"));
  EXPECT_FALSE(holds(page, "b/two"));
  EXPECT_FALSE(holds(page, "By sample, of"));  // nothing is left out
  // Of one sample, or where nothing diverges, it says nothing; nor did earlier versions of dnn-localize write it.
  const std::string parts = layer_text("parts", 1, true);
  EXPECT_FALSE(holds(page_of(text_of({parts}, by_sample({"one"}, {"[1]"}))), "layer and sample"));
  EXPECT_FALSE(
      holds(page_of(text_of({layer_text("agrees", 0, false)}, by_sample({"a", "b"}, {"[0, 0]"}))), "layer and sample"));
  EXPECT_FALSE(holds(page_of(text_of({parts}, R"("samples": 2)")), "layer and sample"));
}

TEST(Localization, WhatRoundsToZeroHasNoSign) {
  const std::string parts = layer_text("parts", 1, true);
  const std::string page =
      page_of(text_of({parts}, by_sample({"one", "two"}, {"[0.99, 0.025]"})));  // 10^-0.004, 10^-1.6
  EXPECT_TRUE(holds(page, ">-1.6<")) << page;
  EXPECT_FALSE(holds(page, ">-0.0<"));
}

TEST(Localization, HeatMapSaysWhatItLeavesOut) {
  std::vector<std::string> layers, rows, samples;
  for (int i = 0; i < 130; ++i) samples.push_back(cat("s", i));
  for (int i = 0; i < 70; ++i) {
    layers.push_back(layer_text(cat("layer", i), i, true));
    rows.push_back(cat("[", join(std::vector<double>(130, 0.5)), "]"));
  }
  const std::string page = page_of(text_of(layers, by_sample(samples, rows, 50)));
  EXPECT_TRUE(holds(page,
                    "By sample, of 70 diverging layers the 60 that add most and of 180 samples 100, evenly spread, are "
                    "shown."));
}

TEST(Localization, WhatDoesNotFitIsMalformed) {
  const auto said = [](const std::string& by_sample) -> std::string {
    try {
      parse_localization(text_of({layer_text("parts", 1, true)}, by_sample));
      return "";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Malformed);
      return e.what();
    }
  };
  EXPECT_EQ(said(by_sample({"a", "b"}, {"[1, 2]"})), "");
  EXPECT_EQ(said(by_sample({"a", "b"}, {"[1]"})), "a layer's errors are not those of 2 samples");
  EXPECT_EQ(said(by_sample({"a"}, {"[1]", "[1]"})), "errors by sample of 2 layers, where there are 1");
  EXPECT_EQ(said(by_sample({"a"}, {"1"})), "a layer's errors are not those of 1 samples");
  EXPECT_EQ(said(R"("by_sample": {"samples": [1], "errors": [[1]]})"), "a sample is not a map");
}

}  // namespace
}  // namespace dnn::report
