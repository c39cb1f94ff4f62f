// JSON of others: the value that the library's own parser gives, in time that grows with the text alone.
#include "base/json_text.h"

#include <gtest/gtest.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <string>

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;

TEST(ParseOrderedJson, GivesWhatTheParserGives) {
  for (const char* text : {R"({"b": 1, "a": [1, -2, 3.5, null, true, "x\u00e9"], "c": {"d": {}, "e": []}})", "[]", "3",
                           "\"\"", "null", R"([[[]], {"a": [{"b": {}}]}])", "18446744073709551615", "-1"}) {
    EXPECT_EQ(parse_ordered_json(text).dump(), Json::parse(text).dump()) << text;
    EXPECT_EQ(parse_ordered_json(text).type(), Json::parse(text).type()) << text;
  }
  for (const char* text : {"", "{", "[1,]", "{\"a\": }", "1 2", "nul", "\"\xff\""})
    EXPECT_TRUE(parse_ordered_json(text).is_discarded()) << text;
}

TEST(ParseOrderedJson, TakesTheLastOfEqualKeysInThePlaceOfTheFirst) {
  EXPECT_EQ(parse_ordered_json(R"({"a": {"x": 1}, "b": 2, "a": {"y": 3}})").dump(), R"({"a":{"y":3},"b":2})");
}

TEST(ParseOrderedJson, RefusesWhatNestsDeep) {
  const auto nested = [](size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_FALSE(parse_ordered_json(nested(kDeepestJson)).is_discarded());
  EXPECT_TRUE(parse_ordered_json(nested(kDeepestJson + 1)).is_discarded());
  EXPECT_TRUE(parse_ordered_json(nested(2'000'000)).is_discarded());
  EXPECT_TRUE(parse_ordered_json(R"({"a": {"b": {}}})", 2).is_discarded());
}

// The library's own takes minutes for these.
TEST(ParseOrderedJson, TakesTimeThatGrowsWithTheText) {
  std::string text = "{\"k\": 0";
  constexpr int kKeys = 200'000;
  for (int i = 0; i < kKeys; ++i) text += ", \"k" + std::to_string(i) + "\": " + std::to_string(i);
  const std::clock_t begin = std::clock();
  const Json json = parse_ordered_json(text + "}");
  EXPECT_EQ(json.size(), static_cast<size_t>(kKeys) + 1);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 10);
}

}  // namespace
}  // namespace dnn
