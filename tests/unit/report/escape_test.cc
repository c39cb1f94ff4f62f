// Hostile names in each kind of document.
#include "report/escape.h"

#include <gtest/gtest.h>

namespace dnn::report {
namespace {

TEST(Escape, Shortened) {
  EXPECT_EQ(shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shortened("abcdefghijk", 5), "ab\u2026jk");
  EXPECT_EQ(shortened("\u732b\u732b\u732b\u732b\u732b\u732b", 4), "\u732b\u732b\u2026\u732b");
}

TEST(Escape, Html) {
  EXPECT_EQ(html_text("<script>alert(\"1\")</script> & 'x'"),
            "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;");
}

TEST(Escape, Rst) {
  EXPECT_EQ(rst_text("*a* `b` |c| d_ <e> :f: \\"), "\\*a\\* \\`b\\` \\|c\\| d\\_ \\<e\\> \\:f: \\\\");
  EXPECT_EQ(rst_text(".. raw:: html"), "\\.. raw\\:: html");
  EXPECT_EQ(rst_text("- item"), "\\- item");
  EXPECT_EQ(rst_text("1. item"), "\\1. item");
  EXPECT_EQ(rst_text("resnet50.onnx: 1"), "resnet50.onnx: 1");
  EXPECT_EQ(rst_text("then::"), "then\\:\\:");
  EXPECT_EQ(rst_text("  a "), "\u00a0\u00a0a\u00a0");
}

TEST(Escape, Markdown) {
  EXPECT_EQ(markdown_text("a|b [c](d) `e` *f* _g_"), "a\\|b \\[c\\](d) \\`e\\` \\*f\\* \\_g\\_");
  EXPECT_EQ(markdown_text("<b>&amp;"), "&lt;b&gt;&amp;amp;");
  EXPECT_EQ(markdown_text("https://x.y www.x.y a@b"), "https\\://x.y www\\.x.y a\\@b");
  EXPECT_EQ(markdown_text("- item"), "\\- item");
  EXPECT_EQ(markdown_text("    code"), "\u00a0\u00a0\u00a0\u00a0code");
  EXPECT_EQ(markdown_text("so: 1"), "so: 1");
  EXPECT_EQ(markdown_text("1. item"), "1\\. item");
}

}  // namespace
}  // namespace dnn::report
