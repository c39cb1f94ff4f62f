// Event files hold the bytes that TensorBoard reads.
#include "train/events.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/sha256.h"

namespace dnn::train {
namespace {

std::string hex(const std::string& bytes) { return hex_text(as_bytes(bytes)); }

// TensorFlow 2.21.0's tf.io.TFRecordWriter and Event messages give these.
TEST(Events, AreTensorFlowsBytes) {
  EXPECT_EQ(hex(record_frame(version_event(1.5))),
            "1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c");
  EXPECT_EQ(hex(record_frame(scalar_event(1700000000.25, 300, "epoch_loss", 0.625))),
            "2100000000000000017becf60900001040fc54d94110ac022a130a110a0a65706f63685f6c6f7373150000203face0679d");
  EXPECT_EQ(hex(start_event(2.5, 7)), "09000000000000044010073a020801");
  // TensorFlow parses it as five values of sum 3 and sum of squares 10.5.
  const std::vector<float> values = {-1, 0, 0.5F, 0.5F, 3};
  EXPECT_EQ(hex(histogram_event(2.5, 3, "w", values)),
            "09000000000000044010032aba010ab7010a01772ab10109000000000000f0bf110000000000000840190000000000001440210000"
            "00000000084029000000000000254032402b14facdbe24f0bf08996919155aedbf000000000000000011ea2d819997713dfae55a25"
            "d31fde3fb03125ee8091e03f68bc10359a0707400d9cc5a0295509403a400000000000000000000000000000f03f00000000000000"
            "00000000000000f03f000000000000000000000000000000400000000000000000000000000000f03f");
}

TEST(Events, ALogIsAddedToThroughNoLink) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path().string());
  const std::string path = folder.path() + "/train.log";
  GrowingFile(path).write("one\n");
  GrowingFile(path).write("two\n");
  EXPECT_EQ(read_file(path), "one\ntwo\n");
  std::filesystem::rename(path, folder.path() + "/other");
  std::filesystem::create_symlink("other", path);
  EXPECT_THROW(GrowingFile{path}, Error);
  EXPECT_EQ(read_file(folder.path() + "/other"), "one\ntwo\n");
}

TEST(Events, AFileBeginsWithItsVersionAndGrows) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path().string());
  {
    EventFile first(folder.path()), second(folder.path());
    first.scalar("loss", 1, 1);
    second.start_after(4);
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename().string(), text = read_file(entry.path().string());
    EXPECT_EQ(name.rfind("events.out.tfevents.", 0), 0U) << name;
    EXPECT_EQ(text.substr(12 + 9, 15), "\x1a\rbrain.Event:2") << hex(text);
    EXPECT_GT(text.size(), 60U);
    ++files;
  }
  EXPECT_EQ(files, 2);
}

}  // namespace
}  // namespace dnn::train
