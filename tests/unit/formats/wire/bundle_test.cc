// Tensor bundles and the tables and checksums below them.
#include "formats/wire/bundle.h"

#include <gtest/gtest.h>

#include "formats/wire/table.h"

namespace dnn {
namespace {

std::string wrecked(std::string file, size_t at) {
  file[at] = static_cast<char>(file[at] ^ 0x20);
  return file;
}

TEST(Table, ThereAndBack) {
  const std::map<std::string, std::string> entries = {{"", "head"}, {"a/b", ""}, {"a/c", std::string(500, 'x')}};
  const std::string file = write_table(entries);
  EXPECT_EQ(read_table(as_bytes(file)), entries);
  EXPECT_EQ(read_table(as_bytes(write_table({}))).size(), 0u);
  for (size_t at = 0; at < file.size() - 48; ++at) EXPECT_THROW(read_table(as_bytes(wrecked(file, at))), Error) << at;
  for (size_t n = 0; n < file.size(); ++n) EXPECT_THROW(read_table(as_bytes(file.substr(0, n))), Error) << n;
}

TensorBundle bundle_of(const BundleFiles& files, const std::string& shard) {
  return {as_bytes(files.index), [&shard](int, int) { return SharedBytes{as_bytes(shard), nullptr}; }};
}

TEST(Bundle, ThereAndBack) {
  const std::map<std::string, Tensor> tensors = {{"b", Tensor::of<float>({2, 2}, {1, 2, 3, 4})},
                                                 {"a", Tensor::of<int64_t>({1}, {-5})},
                                                 {"c", Tensor(DType::Float32, {0, 3})}};
  const BundleFiles files = write_bundle(tensors);
  std::string shard = files.shard.text();
  TensorBundle bundle = bundle_of(files, shard);
  for (const auto& [key, tensor] : tensors) EXPECT_TRUE(bundle.read(key).identical(tensor)) << key;
  EXPECT_FALSE(bundle.has("d"));
  EXPECT_THROW(bundle.read("d"), Error);
  shard[9] = 'x';
  TensorBundle damaged = bundle_of(files, shard);
  EXPECT_NO_THROW(damaged.read("a"));
  EXPECT_THROW(damaged.read("b"), Error);
  shard.resize(12);
  TensorBundle shorter = bundle_of(files, shard);
  EXPECT_THROW(shorter.read("b"), Error);
}

}  // namespace
}  // namespace dnn
