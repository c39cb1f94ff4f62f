// Tags: the same for the same bytes and key, others for any other.
#include "base/keyed_tag.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace dnn {
namespace {

class KeyedTagsOf : public testing::TestWithParam<TagHash> {};

TEST_P(KeyedTagsOf, SameBytesAndKeyAlone) {
  const std::string secret(32, 'k'), other(32, 'l');
  const KeyedTags tags(as_bytes(secret), "a", GetParam()), again(as_bytes(secret), "a", GetParam());
  const KeyedTags purpose(as_bytes(secret), "b", GetParam()), key(as_bytes(other), "a", GetParam());
  std::set<Tag> seen;
  for (const size_t n : {0, 1, 15, 16, 1023, 1024, 1025, 5000}) {
    std::string text(n, '\0');
    EXPECT_EQ(tags(as_bytes(text)), again(as_bytes(text))) << n;
    EXPECT_TRUE(tags.holds(as_bytes(text), again(as_bytes(text)))) << n;
    EXPECT_TRUE(seen.insert(tags(as_bytes(text))).second) << n;
    EXPECT_TRUE(seen.insert(purpose(as_bytes(text))).second) << n;
    EXPECT_TRUE(seen.insert(key(as_bytes(text))).second) << n;
    for (size_t bit = 0; bit < 8 * n; bit += 1 + n / 3) {
      std::string flipped = text;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_FALSE(tags.holds(as_bytes(flipped), tags(as_bytes(text)))) << n << " bytes, bit " << bit;
    }
  }
}

// What XXH3 and other sums without a key let pass: parts that change places.
TEST_P(KeyedTagsOf, PartsThatChangePlacesAreOthers) {
  const KeyedTags tags(as_bytes("secret"), "a", GetParam());
  std::string text(8192, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i / 1024);
  std::set<Tag> seen = {tags(as_bytes(text))};
  for (size_t part = 0; part + 2048 <= text.size(); part += 1024) {
    std::string other = text;
    other.replace(part, 1024, text.substr(part + 1024, 1024));
    other.replace(part + 1024, 1024, text.substr(part, 1024));
    EXPECT_TRUE(seen.insert(tags(as_bytes(other))).second) << part;
  }
}

INSTANTIATE_TEST_SUITE_P(Hashes, KeyedTagsOf, testing::Values(TagHash::Umac64, TagHash::Umac128));

}  // namespace
}  // namespace dnn
