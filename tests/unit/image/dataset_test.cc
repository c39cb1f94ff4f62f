// Label sets find classes by synset and name with or without a background class; folders list in one order.
#include "image/dataset.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace dnn {
namespace {

constexpr const char* kList =
    "n01440764 tench, Tinca tinca\nn01443537 goldfish, Carassius auratus\nn02012849 crane\nn03126707 crane\n";

TEST(Labels, TheBackgroundClassShiftsLookups) {
  const LabelSet plain = LabelSet::parse(kList, "four");
  EXPECT_EQ(plain.size(), 4);
  EXPECT_EQ(plain.label(0), "tench, Tinca tinca");
  EXPECT_EQ(plain.synset(1), "n01443537");
  EXPECT_EQ(plain.index_of_synset("n01443537"), 1);
  EXPECT_EQ(plain.index_of_name("Tench"), 0);
  EXPECT_EQ(plain.index_of_name("crane"), -1);  // two birds of a feather, one of them of steel
  EXPECT_EQ(plain.index_of_synset("n00000000"), -1);
  const LabelSet shifted = plain.for_outputs(5);
  EXPECT_TRUE(shifted.has_background());
  EXPECT_EQ(shifted.index_of_synset("n01443537"), 2);
  EXPECT_EQ(shifted.for_outputs(4).index_of_synset("n01443537"), 1);
  EXPECT_THROW(plain.for_outputs(6), Error);
  EXPECT_THROW(plain.for_outputs(3), Error);
}

TEST(Labels, SynsetsCanBeLent) {
  const LabelSet names = LabelSet::parse("background\ntench\ngoldfish\nbird\nmachine\n", "names");
  EXPECT_FALSE(names.has_synsets());
  const LabelSet both = names.with_synsets_of(LabelSet::parse(kList, "four"));
  EXPECT_EQ(both.index_of_synset("n03126707"), 4);
  EXPECT_EQ(both.label(4), "machine");
}

TEST(Labels, DamageIsMalformed) {
  EXPECT_THROW(LabelSet::parse("\n\n", "empty"), Error);
  EXPECT_THROW(LabelSet::parse("n01440764 a\nn01440764 b\n", "twice"), Error);
}

TEST(Labels, NamesOfFoldersStayAsTheyAre) {
  const std::vector<std::string> names = {"b ", "n01440764 tench", "n01443537", "Crane", "crane", "crane, a bird"};
  const LabelSet set = LabelSet::of(names, "folders");
  std::string lines;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    EXPECT_EQ(set.index_of(names[i]), index) << names[i];
    EXPECT_EQ(set.line(index), names[i]);
    lines += names[i] + "\n";
  }
  // A network keeps them as lines of text: the folders are found by what such a list says.
  const LabelSet read = LabelSet::parse(lines, "model");
  EXPECT_EQ(read.label(1), "tench");
  EXPECT_EQ(read.line(1), "n01440764 tench");
  EXPECT_EQ(read.line(2), "n01443537");
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(read.index_of(names[i]), static_cast<int64_t>(i)) << names[i];
  for (const char* bad : {"a\nb", "a\x7f", "a\u009b31m", " ", ""})
    EXPECT_THROW(LabelSet::of({"a", bad}, "folders"), Error) << bad;
}

TEST(Labels, SynsetPrefixes) {
  EXPECT_EQ(synset_prefix("n01440764_tench.JPEG"), "n01440764");
  EXPECT_EQ(synset_prefix("n014407641.jpg"), "");
  EXPECT_EQ(synset_prefix("n0144076"), "");
  EXPECT_EQ(synset_prefix("x01440764"), "");
}

class Dataset : public testing::Test {
 protected:
  Dataset() : folder_(std::filesystem::temp_directory_path().string()) {
    for (const char* name : {"goldfish/b.PNG", "goldfish/a.jpg", "n02012849/z.bmp", "n01440764_x.jpeg", "notes.txt",
                             ".hidden.jpg", ".git/c.jpg", "7/q.png"}) {
      const std::filesystem::path path = std::filesystem::path(folder_.path()) / name;
      std::filesystem::create_directories(path.parent_path());
      write_file(path.string(), "");
    }
  }
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
  TemporaryFolder folder_;
};

TEST_F(Dataset, FoldersAreListedInOrderWithTheirTruth) {
  std::vector<Sample> samples = list_images({folder_.path()});
  const LabelSet labels = LabelSet::parse(kList, "four");
  EXPECT_EQ(find_truth(&samples, labels), 4);
  const std::vector<Sample> expected = {{at("7/q.png"), std::nullopt},
                                        {at("goldfish/a.jpg"), 1},
                                        {at("goldfish/b.PNG"), 1},
                                        {at("n01440764_x.jpeg"), 0},
                                        {at("n02012849/z.bmp"), 2}};
  EXPECT_EQ(samples, expected);
  EXPECT_EQ(shard(samples, 1, 2), (std::vector<Sample>{expected[1], expected[3]}));
  EXPECT_THROW(shard(samples, 2, 2), Error);
}

TEST_F(Dataset, WhatIsNotThereIsAnError) {
  EXPECT_THROW(list_images({at("absent")}), Error);
  std::filesystem::create_directory(at("empty"));
  EXPECT_THROW(list_images({at("empty")}), Error);
  EXPECT_EQ(list_images({at("notes.txt")}).size(), 1u);  // named by hand: taken, the decoder judges it
}

TEST_F(Dataset, ListsNameTheirClasses) {
  const LabelSet labels = LabelSet::parse(kList, "four");
  write_file(at("list.txt"),
             "goldfish/a.jpg\tn02012849\n/x/with space.png 3\r\ngoldfish/b.PNG goldfish\nplain name.jpg\n\n");
  const std::vector<Sample> expected = {{at("goldfish/a.jpg"), 2},
                                        {"/x/with space.png", 3},
                                        {at("goldfish/b.PNG"), 1},
                                        {at("plain name.jpg"), std::nullopt}};
  EXPECT_EQ(read_image_list(at("list.txt"), labels), expected);
  write_file(at("bad.txt"), "a.jpg 4\n");
  EXPECT_THROW(read_image_list(at("bad.txt"), labels), Error);
}

TEST_F(Dataset, FolderNamesCanBeTheLabels) {
  std::vector<Sample> samples = list_images({at("goldfish"), at("n02012849")});
  EXPECT_FALSE(labels_of_folders(samples, 3).has_value());
  const LabelSet labels = *labels_of_folders(samples, 2);
  EXPECT_EQ(labels.size(), 2);
  EXPECT_EQ(find_truth(&samples, labels), 3);
  EXPECT_EQ(samples[0].truth, 0);
  EXPECT_EQ(samples[2].truth, 1);
}

TEST(DatasetData, ImageNetFilesNameTheirClasses) {
  const char* data = std::getenv("DNN_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "DNN_TEST_DATA is not set";
  const std::string images = std::string(data) + "/images/";
  std::vector<Sample> samples = list_images({images + "imagenet200"});
  ASSERT_EQ(samples.size(), 200u);
  const LabelSet labels = LabelSet::read(images + "labels/squeezenet_labels_1000.txt");
  EXPECT_EQ(find_truth(&samples, labels), 200);
  const LabelSet with_background = LabelSet::read(images + "labels/tflite_labels_1001.txt").with_synsets_of(labels);
  std::vector<Sample> shifted = list_images({images + "imagenet200"});
  EXPECT_EQ(find_truth(&shifted, with_background), 200);
  for (size_t i = 0; i < 200; ++i) EXPECT_EQ(*shifted[i].truth, *samples[i].truth + 1);
}

}  // namespace
}  // namespace dnn
