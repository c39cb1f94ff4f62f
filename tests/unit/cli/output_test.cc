// Text on its way to standard output: what steers a terminal or a CI service is made visible, all else stays as it is.
#include "cli/output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace dnn::cli {
namespace {

// In parts of this many bytes.
std::string visible(const std::string& text, size_t part) {
  StringSink sink;
  VisibleSink filter(sink);
  for (size_t at = 0; at < text.size(); at += part) filter.write(as_bytes(text.substr(at, part)));
  filter.finish();
  return sink.text();
}

void expect(const std::string& text, const std::string& shown) {
  for (size_t part = 1; part <= text.size() + 1; ++part)
    EXPECT_EQ(visible(text, part), shown) << "in parts of " << part;
}

TEST(VisibleSink, LeavesOrdinaryTextAsItIs) {
  for (const char* const text : {"a\tb\n", "caf\u00e9 \u732b \U0001F431\n", "a::b ##c\n",
                                 "::\n:: \n: :\n## heading\n#\n##", "x\n  y: z::w\n", ":"})
    expect(text, text);
}

TEST(VisibleSink, ShowsWhatSteersATerminal) {
  expect("a\x1b[2J\r\x07\x7f", "a\\u001b[2J\\u000d\\u0007\\u007f");
  expect("\u0085\u009b\u202e\u2066\ufeff", "\\u0085\\u009b\\u202e\\u2066\\ufeff");
  expect("a\xff\xc3(\xe2\x82", "a\\xff\\xc3(\\xe2\\x82");
  expect(std::string("\xf4\x90\x80\x80\xed\xa0\x80\0", 8), "\\xf4\\x90\\x80\\x80\\xed\\xa0\\x80\\u0000");
}

TEST(VisibleSink, LetsNoLineBeACommand) {
  expect("::error::x\n \t::set-output y\na ::c\n", "\\x3a:error::x\n \t\\x3a:set-output y\na ::c\n");
  expect("##[error]x\n##vso[task]y\n##x\n", "\\x23#[error]x\n\\x23#vso[task]y\n##x\n");
}

TEST(VisibleSink, KeepsTheMeaningOfJson) {
  const nlohmann::json json = {{"name \u202e", "a\x1b\n\u0085\u2066\x7f"}, {"::error::", "##[x]"}};
  const std::string text = visible(json_text(json), 3);
  EXPECT_EQ(parse_json(text), json);
  EXPECT_EQ(text.find("\u0085"), std::string::npos);
}

}  // namespace
}  // namespace dnn::cli
