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

std::string localization_page(const std::string& json) {
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
  const std::string page = localization_page(kTwoLayers);
  EXPECT_TRUE(holds(page, "Divergence by layer and sample, b"));
  EXPECT_TRUE(holds(page, "What is infinite counts as the largest. *: another label in the target."));
  EXPECT_TRUE(holds(page, "two *"));
  EXPECT_FALSE(holds(page, "b/two"));
  EXPECT_FALSE(holds(page, "By sample, of"));  // nothing is left out
  // Of one sample, or where nothing diverges, it says nothing; nor did earlier versions of dnn-localize write it.
  const std::string parts = layer_text("parts", 1, true);
  EXPECT_FALSE(holds(localization_page(text_of({parts}, by_sample({"one"}, {"[1]"}))), "layer and sample"));
  EXPECT_FALSE(holds(localization_page(text_of({layer_text("agrees", 0, false)}, by_sample({"a", "b"}, {"[0, 0]"}))),
                     "layer and sample"));
  EXPECT_FALSE(holds(localization_page(text_of({parts}, R"("samples": 2)")), "layer and sample"));
}

TEST(Localization, WhatRoundsToZeroHasNoSign) {
  const std::string parts = layer_text("parts", 1, true);
  const std::string page =
      localization_page(text_of({parts}, by_sample({"one", "two"}, {"[0.99, 0.025]"})));  // 10^-0.004, 10^-1.6
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
  const std::string page = localization_page(text_of(layers, by_sample(samples, rows, 50)));
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

std::string with_maps(const std::string& finding, const std::string& channels, const std::string& layer = "conv1") {
  return cat(kTwoLayers.substr(0, kTwoLayers.size() - 1),
             R"(, "findings": [{"what": "other <bias>"}], "maps": [{"finding": )", finding, R"(, "layer": ")", layer,
             R"(", "sample": "b/<two>", "channels_of_layer": 64, "height": 4, "width": 3,
             "channels": [)",
             channels, "]}]}");
}

const std::string kChannel =
    R"({"channel": 7, "max_abs": 0.5, "largest": 12.7, "largest_difference": 0.5, "source": [[127, -10, null], [0, 0, 0]],
    "target": [[0, 0, 0], [0, 0, 0]], "difference": [[127, 0, null], [0, 0, -127]]})";

TEST(Localization, MapsSideBySide) {
  const Localization found = parse_localization(with_maps("0", kChannel));
  ASSERT_EQ(found.maps.size(), 1u);
  const Localization::Maps& maps = found.maps[0];
  EXPECT_EQ(maps.what, "other <bias>");
  EXPECT_TRUE(maps.isolated);
  EXPECT_EQ(maps.rows, 2u);
  EXPECT_EQ(maps.columns, 3u);
  ASSERT_EQ(maps.channels.size(), 1u);
  EXPECT_DOUBLE_EQ(*maps.channels[0].source[0], 12.7);
  EXPECT_DOUBLE_EQ(*maps.channels[0].source[1], -1);
  EXPECT_FALSE(maps.channels[0].source[2].has_value());
  EXPECT_DOUBLE_EQ(*maps.channels[0].difference[5], -0.5);

  const std::string page = localization_page(with_maps("0", kChannel));
  EXPECT_TRUE(holds(page, "Activations of conv1, the 1 of 64 channels that differ most"));
  EXPECT_TRUE(holds(page, "On b/&lt;two&gt;. A finding (other &lt;bias&gt;): the target"));
  EXPECT_TRUE(holds(page, "Largest difference: 0.5 in channel 7. Of 4 x 3 values, each shown is"));
  EXPECT_TRUE(holds(page, "from -1 to 12.7"));
  EXPECT_TRUE(holds(page, "from -0.5 to 0.5"));
  EXPECT_TRUE(holds(page, "no finite number"));
  size_t pictures = 0;
  for (size_t at = 0; (at = page.find("href=\"data:image/png;base64,", at + 1)) != std::string::npos;) ++pictures;
  EXPECT_EQ(pictures, 6u);  // three of the channel, three of the key
  EXPECT_TRUE(
      holds(localization_page(with_maps("null", kChannel)), "The first layer that diverges, each network on its own"));
  const std::string hostile = localization_page(with_maps("0", kChannel, "<script>"));
  EXPECT_EQ(hostile.find("<script>"), hostile.rfind("<script>"));  // the page's own
  EXPECT_FALSE(holds(localization_page(with_maps("9", "")), "Activations of"));
  EXPECT_FALSE(holds(localization_page(kTwoLayers), "Activations of"));  // of earlier versions of dnn-localize
}

TEST(Localization, MapsOfOtherSizesAreMalformed) {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string channel = kChannel;
    return channel.replace(channel.find(from), from.size(), to);
  };
  std::string wide = "[[";
  for (int i = 0; i < 300; ++i) wide += "1,";
  for (const std::string& channel :
       {changed("[[127, -10, null], [0, 0, 0]]", "[]"), changed("[[127, -10, null], [0, 0, 0]]", "[1, 2]"),
        changed("[0, 0, -127]", "[0, 0]"), changed("[[127, 0, null], [0, 0, -127]]", "[[1, 2, 3]]"),
        changed("[[127, -10, null], [0, 0, 0]]", wide + "1]]"), changed("\"source\"", "\"sauce\""), std::string("3")})
    EXPECT_THROW(parse_localization(with_maps("0", channel)), Error) << channel.substr(0, 300);
  // What is out of range is no number.
  EXPECT_FALSE(parse_localization(with_maps("0", changed("127", "1270"))).maps[0].channels[0].source[0].has_value());
}

}  // namespace
}  // namespace dnn::report
