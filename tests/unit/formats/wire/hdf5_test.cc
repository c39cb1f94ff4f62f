// HDF5: what is written reads back, damage is refused, and the features that outside files use are read.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "formats/wire/hdf5.h"
#include "formats/wire/hdf5_write.h"

namespace dnn::hdf5 {
namespace {

// A file and what keeps it.
struct Opened {
  std::shared_ptr<const std::string> bytes;
  File file;
  explicit Opened(std::string text)
      : bytes(std::make_shared<const std::string>(std::move(text))), file(as_bytes(*bytes), bytes) {}
};

Written sample() {
  Written root;
  root.set("config", std::string(100000, 'x'));
  root.set("empty", "");
  root.set("names", std::vector<std::string>{"a", "", "long name"});
  root.set("none", std::vector<std::string>{});
  root.at("weights/conv/kernel:0").data = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  root.at("weights/conv").set("weight_names", std::vector<std::string>{"conv/kernel:0"});
  root.at("weights/count").data = Tensor::scalar<int64_t>(-7);
  root.at("weights/half").data = convert(Tensor::of<float>({2}, {0.5f, -2}), DType::Float16);
  root.at("weights/nothing").data = Tensor(DType::Float64, {0, 4});
  return root;
}

TEST(Hdf5, WhatIsWrittenReadsBack) {
  Opened opened(to_content(sample()).text());
  const Object root = opened.file.root();
  EXPECT_EQ(root.text("config"), std::string(100000, 'x'));
  EXPECT_EQ(root.text("empty"), "");
  EXPECT_EQ(root.texts("names"), (std::vector<std::string_view>{"a", "", "long name"}));
  EXPECT_TRUE(root.texts("none").empty());
  EXPECT_FALSE(root.has_attribute("nobody"));
  EXPECT_EQ(root.names(), std::vector<std::string_view>{"weights"});
  const Object weights = *root.member("weights");
  EXPECT_EQ(weights.names(), (std::vector<std::string_view>{"conv", "count", "half", "nothing"}));
  EXPECT_FALSE(weights.is_dataset());
  EXPECT_EQ(weights.member("conv")->texts("weight_names")[0], "conv/kernel:0");
  const Tensor kernel = weights.member("conv/kernel:0")->read();
  EXPECT_TRUE(kernel.identical(Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(weights.member("count")->read().data<int64_t>()[0], -7);
  EXPECT_EQ(to_doubles(weights.member("half")->read()), (std::vector<double>{0.5, -2}));
  EXPECT_EQ(weights.member("nothing")->read().shape(), (Shape{0, 4}));
  EXPECT_FALSE(root.member("weights/nobody").has_value());
}

TEST(Hdf5, TheSameTreeGivesTheSameBytes) { EXPECT_EQ(to_content(sample()).text(), to_content(sample()).text()); }

// More members than one node of the tree holds, and than one level of it does.
TEST(Hdf5, GroupsMayHaveThousandsOfMembers) {
  Written root;
  for (int32_t i = 0; i < 3000; ++i) {
    root.members.emplace_back();
    root.members.back().name = cat("layer_", i);
    root.members.back().data = Tensor::scalar(i);
  }
  Opened opened(to_content(root).text());
  EXPECT_EQ(opened.file.root().names().size(), 3000u);
  const Object group = opened.file.root();
  for (int32_t i : {0, 7, 8, 255, 256, 1999, 2999})
    EXPECT_EQ(group.member(cat("layer_", i))->read().data<int32_t>()[0], i);
}

TEST(Hdf5, NamesThatArePathsAreRefused) {
  Written root;
  root.members.emplace_back();
  root.members.back().name = "a/b";
  EXPECT_THROW(to_content(root).text(), Error);
}

// Every truncation and every flipped byte is read or refused, by one of the two kinds of error.
TEST(Hdf5, DamageIsRefused) {
  Written root;
  root.set("names", std::vector<std::string>{"a", "bc"});
  root.at("g/d").data = Tensor::of<float>({2}, {1, 2});
  const std::string whole = to_content(root).text();
  const auto visit = [](std::string text) {
    try {
      Opened opened(std::move(text));
      const Object top = opened.file.root();
      if (top.has_attribute("names")) top.texts("names");
      if (const auto dataset = top.member("g/d")) dataset->read();
      return true;
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::Malformed || error.kind() == ErrorKind::Unsupported) << error.what();
      return false;
    }
  };
  EXPECT_TRUE(visit(whole));
  size_t refused = 0;
  for (size_t n = 0; n < whole.size(); n += 3) refused += visit(whole.substr(0, n)) ? 0 : 1;
  EXPECT_GT(refused, whole.size() / 6);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    visit(std::move(damaged));
  }
}

TEST(Hdf5, ReadsWhatOtherWritersUse) {
  const char* data = std::getenv("DNN_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "DNN_TEST_DATA is not set";
  const std::string folder = std::string(data) + "/suites/pyfive/";
  struct Case {
    const char *file, *dataset;
    Shape shape;
    double sum;
  };
  const Case cases[] = {
      {"chunked.hdf5", "dataset1", {21, 16}, 56280},          {"compressed.hdf5", "dataset1", {21, 16}, 56280},
      {"compressed.hdf5", "dataset2", {21, 16}, 56280},       {"compressed.hdf5", "dataset3", {21, 16}, 56280},
      {"dataset_datatypes.hdf5", "float32_big", {4}, 6},      {"dataset_datatypes.hdf5", "int64_big", {4}, -6},
      {"dataset_datatypes.hdf5", "uint16_little", {4}, 6},    {"dataset_multidim.hdf5", "d", {2, 3, 4, 5}, 7140},
      {"earliest.hdf5", "group1/subgroup1/dataset3", {4}, 6}, {"fillvalue_latest.hdf5", "dset3", {4}, 6},
      {"fletcher32.hdf5", "dataset1", {4, 4}, 120},           {"latest.hdf5", "group1/dataset2", {4}, 6},
      {"resizable.hdf5", "dataset2", {10, 5}, 1225}};
  for (const Case& c : cases) {
    SCOPED_TRACE(cat(c.file, " ", c.dataset));
    Opened opened(read_file(folder + c.file));
    const Tensor tensor = opened.file.root().member(c.dataset)->read();
    EXPECT_EQ(tensor.shape(), c.shape);
    double sum = 0;
    for (double v : to_doubles(tensor)) sum += v;
    EXPECT_EQ(sum, c.sum);
  }
  Opened types(read_file(folder + "attr_datatypes.hdf5"));
  const Object root = types.file.root();
  EXPECT_EQ(to_doubles(root.numbers("float32_array")), (std::vector<double>{123, 456}));
  EXPECT_THROW(root.numbers("complex64_little"), Error);
}

}  // namespace
}  // namespace dnn::hdf5
