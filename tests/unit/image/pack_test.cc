// Packs hold the folder's images in its order with the same pixels, go on where they were stopped, and refuse what is damaged.
#include "image/pack.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "base/error.h"
#include "image/data_set.h"
#include "image/encode.h"
#include "image/pack_write.h"

namespace dnn {
namespace {

namespace fs = std::filesystem;

Image packed_pattern(int width, int height, int start) {
  Image image;
  image.width = width;
  image.height = height;
  for (int i = 0; i < width * height * 3; ++i) image.rgb.push_back(static_cast<uint8_t>((start + i * i / 7) % 256));
  return image;
}

// cat/ and cat-like/ ('-' sorts before '/'), a nested folder, an image of no class.
class Pack : public testing::Test {
 protected:
  Pack() : folder_(fs::temp_directory_path().string()) {
    int n = 0;
    for (const char* name :
         {"set/cat/b.png", "set/cat/a.jpg", "set/cat-like/c.png", "set/cat/deep/d.jpg", "set/loose.png"}) {
      make_folders(fs::path(at(name)).parent_path().string());
      const Image image = packed_pattern(40 + n, 30 - n, 11 * n);
      write_file(at(name), fs::path(name).extension() == ".jpg" ? encode_jpeg(image, 95) : encode_png(image));
      ++n;
    }
  }
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
  PackSummary pack(const PackOptions& options = {}) const { return write_pack(at("set"), at("set.dnnd"), options); }
  // The header of the file that a run with these options leaves when it is stopped.
  std::string partial_header(PackOptions options) const {
    struct Stop {};
    options.progress = [](int64_t) { throw Stop(); };
    try {
      pack(options);
    } catch (const Stop&) {
    }
    const std::string text = read_file(at("set.dnnd.partial"));
    fs::remove(at("set.dnnd.partial"));
    return text.substr(0, packing::kHeaderSize);
  }
  std::string failure(ErrorKind kind) const {
    try {
      ImagePack(at("set.dnnd"));
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), kind) << e.what();
      return e.what();
    }
    return "none";
  }

  TemporaryFolder folder_;
};

// The bytes that Pillow 13.0.0's save(quality=...) makes of the same pixels.
TEST(EncodeJpeg, IsPillows) {
  const auto digest = [](int quality) { return sha256_hex(as_bytes(encode_jpeg(packed_pattern(40, 30, 5), quality))); };
  EXPECT_EQ(digest(50), "62d0fc751d3452c9c2c0d1819efe1bf7ca320680c50887dacb01d3e59ba15658");
  EXPECT_EQ(digest(90), "1a811e150092548b04067e272e0d4ee02ac5db7d845b302aed77d4be9b783508");
}

TEST_F(Pack, HoldsTheFoldersImages) {
  const PackSummary summary = pack({.threads = 3});
  EXPECT_EQ(summary.images, 5);
  EXPECT_EQ(summary.classes, 2);
  EXPECT_EQ(summary.stored_anew, 0);
  EXPECT_EQ(summary.size_bytes, fs::file_size(at("set.dnnd")));
  const ImagePack pack(at("set.dnnd"));
  EXPECT_EQ(pack.index().classes, (std::vector<std::string>{"cat", "cat-like"}));
  const std::vector<Sample> folder = list_images({at("set")}), packed = list_images({at("set.dnnd")});
  ASSERT_EQ(folder.size(), packed.size());
  for (size_t i = 0; i < folder.size(); ++i) {
    EXPECT_EQ(packed[i].path, at("set.dnnd") + folder[i].path.substr(at("set").size()));
    EXPECT_EQ(pack.read(i).rgb, read_image(folder[i].path).rgb) << folder[i].path;
    EXPECT_EQ(pack.index().images[i].pixels.width, read_image(folder[i].path).width);
  }
  EXPECT_EQ(pack.index().images[0].label, 1);
  EXPECT_EQ(pack.index().images[1].label, 0);
  EXPECT_EQ(pack.index().images[4].label, std::nullopt);
}

TEST_F(Pack, ScalesAndEncodesAsAsked) {
  const PackSummary summary = pack({.max_side = 40, .jpeg_share = 0.5, .quality = 90, .seed = 1});
  EXPECT_EQ(summary.images, 5);
  const ImagePack pack(at("set.dnnd"));
  int pixels = 0, jpegs = 0;
  const std::string file = read_file(at("set.dnnd"));
  for (size_t i = 0; i < pack.index().images.size(); ++i) {
    const PackedImage& image = pack.index().images[i];
    EXPECT_LE(image.pixels.width, 40);
    const Image read = pack.read(i);
    EXPECT_EQ(read.width, image.pixels.width);
    EXPECT_EQ(read.height, image.pixels.height);
    const ImageFormat format = sniff_image(as_bytes(file).subspan(image.offset, image.size));
    jpegs += format == ImageFormat::Jpeg ? 1 : 0;
    pixels += format == ImageFormat::Pnm ? 1 : 0;
  }
  EXPECT_EQ(jpegs + pixels, 5);
  EXPECT_GT(jpegs, 0);
  EXPECT_GT(pixels, 0);
}

// Stopped anywhere: the bytes of a run that was not.
TEST_F(Pack, GoesOnWhereItWasStopped) {
  for (const PackOptions& options : {PackOptions{}, PackOptions{.max_side = 20, .jpeg_share = 0.5, .seed = 3}}) {
    pack(options);
    const std::string whole = read_file(at("set.dnnd"));
    const packing::Header header = packing::parse_header(as_bytes(whole));
    PackOptions resumed = options;
    resumed.resume = true;
    const std::string partial = partial_header(options) + whole.substr(packing::kHeaderSize);
    for (size_t size = 0; size < header.index_offset; size += 97) {
      fs::remove(at("set.dnnd"));
      write_file(at("set.dnnd.partial"), partial.substr(0, std::max(size, size_t{1})));
      const PackSummary summary = pack(resumed);
      EXPECT_LE(summary.resumed, 5);
      EXPECT_EQ(read_file(at("set.dnnd")), whole) << size;
      EXPECT_FALSE(fs::exists(at("set.dnnd.partial")));
    }
    EXPECT_EQ(pack(options).resumed, 0);
  }
}

TEST_F(Pack, RefusesAPartialFileOfOtherImages) {
  const std::string header = partial_header({});
  write_file(at("set.dnnd.partial"), header);
  try {
    pack({.max_side = 10, .resume = true});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Usage);
  }
}

// A run that comes while another one is at the same file is refused, whenever that is: the file is never of both.
TEST_F(Pack, RunsAtOnceNeverMix) {
  const PackOptions small = {.max_side = 20, .threads = 1}, whole = {.threads = 1};
  std::set<std::string> right;
  for (const PackOptions& options : {small, whole}) {
    pack(options);
    right.insert(read_file(at("set.dnnd")));
  }
  constexpr int kPacks = 120;
  std::atomic<int> running = 2, refused = 0;
  std::vector<std::thread> writers;
  for (const PackOptions* options : {&small, &whole}) {
    writers.emplace_back([this, options, &running, &refused] {
      for (int made = 0; made < kPacks;) {
        try {
          pack(*options);
          ++made;
        } catch (const Error& e) {
          EXPECT_EQ(e.kind(), ErrorKind::Environment);
          EXPECT_NE(std::string(e.what()).find("set.dnnd.partial: another process is making it"), std::string::npos)
              << e.what();
          ++refused;
        }
      }
      --running;
    });
  }
  int mixed = 0;
  while (running > 0) mixed += static_cast<int>(right.count(read_file(at("set.dnnd"))) == 0);
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(mixed, 0);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(right.count(read_file(at("set.dnnd"))), 1U);
}

// The partial file's name can be guessed: whoever may write the folder can put a link there.
TEST_F(Pack, WritesThroughNoLink) {
  write_file(at("victim"), "keep");
  for (const bool resume : {false, true}) {
    for (const char* target : {"victim", "nowhere"}) {
      fs::create_symlink(target, at("set.dnnd.partial"));
      try {
        pack({.resume = resume});
        FAIL();
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Environment);
        EXPECT_NE(std::string(e.what()).find("set.dnnd.partial: is a symbolic link"), std::string::npos) << e.what();
      }
      fs::remove(at("set.dnnd.partial"));
    }
  }
  EXPECT_EQ(read_file(at("victim")), "keep");
  EXPECT_FALSE(fs::exists(at("nowhere")));
}

TEST_F(Pack, NamesBrokenImagesOrLeavesThemOut) {
  write_file(at("set/cat/a.jpg"), "no image");
  try {
    pack();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Malformed);
    EXPECT_NE(std::string(e.what()).find("cat/a.jpg"), std::string::npos) << e.what();
  }
  EXPECT_FALSE(fs::exists(at("set.dnnd")));
  EXPECT_FALSE(fs::exists(at("set.dnnd.partial")));
  std::string warned;
  const PackSummary summary = pack({.skip_broken = true, .warn = [&](const std::string& text) { warned += text; }});
  EXPECT_EQ(summary.images, 4);
  EXPECT_EQ(summary.skipped, 1);
  EXPECT_NE(warned.find("cat/a.jpg"), std::string::npos);
}

TEST_F(Pack, DamageIsOneClearError) {
  pack();
  const std::string whole = read_file(at("set.dnnd"));
  const auto with = [&](size_t place, char value) {
    std::string text = whole;
    text[place] = value;
    write_file(at("set.dnnd"), text);
  };
  with(0, 'x');
  EXPECT_NE(failure(ErrorKind::Malformed).find("no signature"), std::string::npos);
  with(8, 9);
  EXPECT_NE(failure(ErrorKind::Unsupported).find("version 9"), std::string::npos);
  with(whole.size() - 1, '!');
  EXPECT_NE(failure(ErrorKind::Malformed).find("checksum"), std::string::npos);
  write_file(at("set.dnnd"), whole.substr(0, whole.size() - 5));
  EXPECT_NE(failure(ErrorKind::Malformed).find("bytes"), std::string::npos);
  write_file(at("set.dnnd"), whole.substr(0, 50));
  EXPECT_NE(failure(ErrorKind::Malformed).find("header"), std::string::npos);
  write_file(at("set.dnnd"), partial_header({}));
  EXPECT_NE(failure(ErrorKind::Malformed).find("not finished"), std::string::npos);
  // A damaged image is that image's error.
  write_file(at("set.dnnd"), whole);
  const size_t offset = static_cast<size_t>(ImagePack(at("set.dnnd")).index().images[2].offset);
  with(offset + 20, static_cast<char>(whole[offset + 20] + 1));
  const ImagePack pack(at("set.dnnd"));
  EXPECT_NO_THROW(pack.read(1));
  try {
    pack.read(2);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Malformed);
    EXPECT_EQ(std::string(e.what()).rfind(at("set.dnnd/cat/b.png"), 0), 0U) << e.what();
  }
}

// Files that others open must not be named by a pack.
TEST_F(Pack, NamesLeadNowhereElse) {
  pack();
  PackIndex index = ImagePack(at("set.dnnd")).index();
  const std::string whole = read_file(at("set.dnnd"));
  packing::Header header = packing::parse_header(as_bytes(whole));
  for (const char* name :
       {"../secret.png", "/etc/x.png", "a//b.png", "cat/../../x.png", "", "cat/a\nb.png", "cat/\x1b[2J.png"}) {
    index.images[0].name = name;
    const std::string rows = packing::index_text(index);
    header.index_size = rows.size();
    header.digest = packing::digest_of(as_bytes(rows));
    const std::string text = packing::header_text(header) +
                             whole.substr(packing::kHeaderSize, header.index_offset - packing::kHeaderSize) + rows;
    EXPECT_THROW(parse_pack(as_bytes(text)), Error) << name;
  }
}

TEST_F(Pack, NamesWithControlsAreRefused) {
  for (const char* name : {"set/cat/e\nf.png", "set/c\nd/e.png"}) {
    make_folders(fs::path(at(name)).parent_path().string());
    write_file(at(name), "x");
    try {
      list_data_set(at("set"));
      FAIL() << name;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Malformed);
      EXPECT_NE(std::string(e.what()).find("has a control character in its name"), std::string::npos) << e.what();
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    }
    fs::remove(at(name));
  }
}

TEST_F(Pack, ReadsTheOxfordPetsLayout) {
  make_folders(at("pets/images"));
  make_folders(at("pets/annotations"));
  for (const char* name : {"Sphynx_1", "Sphynx_2", "beagle_7", "beagle_9"})
    write_file(at(cat("pets/images/", name, ".jpg")), encode_jpeg(packed_pattern(8, 8, 1), 90));
  write_file(at("pets/annotations/list.txt"),
             "#Image CLASS-ID SPECIES BREED ID\nbeagle_7 1 2 1\nSphynx_2 2 1 1\nSphynx_1 2 1 1\n");
  const DataSet set = list_data_set(at("pets"));
  EXPECT_EQ(set.classes, (std::vector<std::string>{"beagle", "Sphynx"}));
  ASSERT_EQ(set.images.size(), 3U);
  EXPECT_EQ(set.images[0].name, "Sphynx/Sphynx_1.jpg");
  EXPECT_EQ(set.images[0].label, 1);
  EXPECT_EQ(write_pack(at("pets"), at("pets.dnnd"), {}).images, 3);
  write_file(at("pets/annotations/list.txt"), "beagle_7 1 2 1\nSphynx_2 1 1 1\n");
  EXPECT_THROW(list_data_set(at("pets")), Error);
}

TEST_F(Pack, EmptyClassesAreNamed) {
  make_folders(at("set/dog"));
  try {
    pack();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Usage);
    EXPECT_NE(std::string(e.what()).find("dog"), std::string::npos);
  }
}

}  // namespace
}  // namespace dnn
