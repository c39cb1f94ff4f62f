// What a signature vouches for: all of the file, as it is used, whoever writes it meanwhile.
#include "package/file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "base/file.h"
#include "base/keyed_tag.h"
#include "base/read_limit.h"
#include "base/sanitized.h"
#include "base/sha256.h"
#include "package_case.h"

namespace dnn {
namespace {

const PackageKey kKey{std::string(32, 'k')};

// A package with that text as its code and those bytes as a constant.
Package package_with(const std::string& code, const std::string& bytes) {
  Package package = *package_of(R"(graph "g" {
    opset 28
    input x: float32[1,4]
    y = Relu(x)
    output y
  })");
  package.variants[0].target = {"c", "x86-64", {}, ""};
  package.variants[0].code = {code, code, {}, {}};
  Tensor constant(DType::UInt8, {static_cast<int64_t>(bytes.size())});
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(constant.mutable_bytes()));
  package.constants.push_back(constant);
  return package;
}

std::string written(const Package& package, const PackageKey& key) {
  StringSink sink;
  write_package(package, sink, key);
  return sink.take();
}

Bytes manifest_of(const std::string& file) {
  uint64_t size = 0;
  std::memcpy(&size, file.data() + 8, sizeof size);
  return as_bytes(file).subspan(56, size);
}

void sign_anew(std::string& file) {
  const Bytes manifest = manifest_of(file);
  const Sha256 digest = hmac_sha256(as_bytes(kKey.secret), manifest);
  std::memcpy(file.data() + 16, digest.data(), digest.size());
  const uint64_t sum = XXH3_64bits(manifest.data(), manifest.size());
  std::memcpy(file.data() + 48, &sum, sizeof sum);
}

void write_in_place(const std::string& path, const std::string& bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  EXPECT_EQ(::pwrite(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  ::close(fd);
}

// The sum is public and has no key: with the lanes of two stripes chosen so that their products are zero, what one gains the other
// may lose.
TEST(PackageFile, BytesOfTheSameSumAreNotOfTheSameTag) {
  const auto lane = [](size_t at) {
    uint64_t value = 0;
    std::memcpy(&value, XXH3_kSecret + at, sizeof value);
    return value;
  };
  const auto with = [&](uint64_t first, uint64_t second) {
    std::string bytes(4096, 'w');
    const uint64_t a = (lane(0) >> 32 << 32) + first, b = (lane(8) >> 32 << 32) + second;
    std::memcpy(bytes.data(), &a, sizeof a);
    std::memcpy(bytes.data() + 64, &b, sizeof b);
    return bytes;
  };
  const std::string right = with(1000, 1000), forged = with(1100, 900);  // an index, say, and another
  ASSERT_NE(right, forged);
  ASSERT_EQ(XXH3_64bits(right.data(), right.size()), XXH3_64bits(forged.data(), forged.size()));
  const TemporaryFolder folder(::testing::TempDir());
  const std::string path = folder.path() + "/a.dnnpkg";
  std::string file = written(package_with("code", right), kKey);
  const size_t at = file.find(right);
  ASSERT_NE(at, std::string::npos);
  file.replace(at, forged.size(), forged);
  write_file(path, file);
  for (const OpenedFor what : {OpenedFor::Anything, OpenedFor::Running}) {
    try {
      const OpenedPackage opened = read_package(path, kKey, what);
      EXPECT_TRUE(opened.trusted);
      opened.package->constants.all();
      ADD_FAILURE() << "forged bytes were taken";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Malformed);
      EXPECT_NE(std::string(e.what()).find("damaged"), std::string::npos) << e.what();
    }
  }
  EXPECT_FALSE(read_package(path, PackageKey{std::string(32, 'x')}).trusted);
}

// Of an older version the source alone is read, whoever signed it.
TEST(PackageFile, AnOlderVersionIsItsSource) {
  std::string file = written(package_with("code", std::string(4096, 'w')), kKey);
  const size_t size = manifest_of(file).size();
  const uint32_t version = 3;
  bool older = false;
  for (size_t i = 56; i + 4 <= 56 + size && !older; i += 4) {
    std::string other = file;
    if (other.compare(i, 4, std::string_view(reinterpret_cast<const char*>(&version), 4)) != 0) continue;
    other[i] = 2;
    sign_anew(other);
    const auto owner = std::make_shared<const std::string>(other);
    try {
      const OpenedPackage opened = parse_package(as_bytes(*owner), owner, kKey);
      older = opened.older;
      EXPECT_NE(opened.trusted, older);
      if (older) {
        EXPECT_FALSE(opened.package->variants.at(0).compiled());
        EXPECT_EQ(opened.package->constants.size(), 0u);
        EXPECT_EQ(opened.package->source.graph().order().size(), 1u);
      }
    } catch (const Error&) {  // that 3 was another number
    }
  }
  EXPECT_TRUE(older);
}

// The tag of a constant is by another hash in packages of before: those are read, and damage to them is found.
TEST(PackageFile, TagsOfAnEarlierVersionHold) {
  const std::string bytes(4096, 'w');
  const auto text_of_tag = [&](TagHash hash) {
    const Tag tag = KeyedTags(as_bytes(kKey.secret), "blobs of packages", hash)(as_bytes(bytes));
    return std::string(tag.begin(), tag.end());
  };
  std::string file = written(package_with("code", bytes), kKey);
  const size_t at = file.find(text_of_tag(TagHash::Umac64));
  ASSERT_NE(at, std::string::npos);
  file.replace(at, sizeof(Tag), text_of_tag(TagHash::Umac128));
  sign_anew(file);
  const auto opened = [](const std::string& from) {
    const auto owner = std::make_shared<const std::string>(from);
    return parse_package(as_bytes(*owner), owner, kKey);
  };
  EXPECT_TRUE(opened(file).trusted);
  file[file.find(bytes)] = 'v';
  EXPECT_THROW(opened(file), Error);
}

// Though no run needs the source of a package that this user signed.
TEST(PackageFile, ADamagedSourceIsFoundWhereAPackageIsOpened) {
  Package package = package_with("code", "w");
  Graph source = package.source.structure();
  source.doc = "a text of the source alone";
  package.source = source;
  std::string file = written(package, kKey);
  const TemporaryFolder folder(::testing::TempDir());
  const std::string path = folder.path() + "/a.dnnpkg";
  write_file(path, file);
  const OpenedPackage opened = read_package(path, kKey, OpenedFor::Running);
  EXPECT_EQ(opened.package->source.structure().doc, source.doc);
  EXPECT_EQ(opened.package->source.graph().doc, source.doc);
  const size_t at = file.find(source.doc);
  ASSERT_NE(at, std::string::npos);
  file[at] = 'A';
  write_file(path, file);
  EXPECT_THROW(read_package(path, kKey, OpenedFor::Running), Error);
}

// One text that many nodes point at is many texts in memory: of another's package no more of them than its size allows.
TEST(PackageFile, AnothersPackageIsReadWithinLimits) {
#ifdef DNN_SANITIZED
  GTEST_SKIP() << "a sanitizer's own memory counts, too";
#endif
  Package package = package_with("code", "w");
  Graph source = package.source.structure();
  for (NodeId id : std::vector<NodeId>(source.order())) {
    for (int i = 0; i < 300; ++i) {
      Node copy = source.node(id);
      copy.outputs = {source.add_value(cat("value ", i))};
      copy.doc = std::string(200'000, 'd');
      source.add_node(std::move(copy));
    }
  }
  package.source = source;
  const std::string file = written(package, PackageKey());
  EXPECT_LT(file.size(), 500'000u);
  const auto owner = std::make_shared<const std::string>(file);
  const auto opened = [&](const PackageKey& key) { return parse_package(as_bytes(*owner), owner, key); };
  limit_reading({uint64_t{32} << 20, 0});
  try {
    opened(PackageKey());
    ADD_FAILURE() << "60 MB were taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(e.what()).find("--max-memory"), std::string::npos) << e.what();
  }
  limit_reading({});
  EXPECT_FALSE(opened(PackageKey()).trusted);
}

// What is the same is in the file once, whoever holds it in memory.
TEST(PackageFile, EqualBytesAreStoredOnce) {
  Package package = package_with("code", std::string(100'000, 'c'));
  const size_t once = written(package, kKey).size();
  Tensor same(DType::UInt8, {100'000});
  std::fill_n(reinterpret_cast<char*>(same.mutable_bytes()), 100'000, 'c');
  package.constants.push_back(same);
  EXPECT_LT(written(package, kKey).size(), once + 1000);
}

// Variants of one package are of one model; one of another would run on inputs that were made for the first.
TEST(PackageFile, VariantsOfOtherInputsAreMalformed) {
  for (const char* input : {"x: float32[1,4]", "x: float32[1,5]", "z: float32[1,4]"}) {
    Package package = package_with("code", "constant");
    package.variants.push_back(package.variants[0]);
    package.variants[1].target.isa = "avx2";
    const std::string name(input, 1);
    package.variants[1].graph = std::make_shared<const Graph>(
        parse_graph(cat("graph \"g\" {\n opset 28\n input ", input, "\n y = Relu(", name, ")\n output y\n}\n")));
    const std::string file = written(package, kKey);
    const auto read = [&] { return parse_package(as_bytes(file), nullptr, kKey); };
    if (input == std::string("x: float32[1,4]")) {
      EXPECT_EQ(read().package->variants.size(), 2u);
    } else {
      EXPECT_THROW(read(), Error) << input;
    }
  }
}

// An output, or whole numbers, in a type of their own would be read at another size.
TEST(PackageFile, OnlyFloatsBetweenStepsLieInAnotherType) {
  const auto read = [](const char* type, Argument::Kind kind, DType stored) -> std::string {
    Package package = *package_of(cat("graph \"g\" {\n opset 28\n input x: ", type, "[4]\n y = Relu(x)\n output y\n}"));
    Variant& variant = package.variants[0];
    variant.arena_bytes = 64;
    variant.values[0] = {{kind, 0, 0}, "", stored};
    try {
      const std::string file = written(package, kKey);
      parse_package(as_bytes(file), nullptr, kKey);
      return "";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Malformed);
      return e.what();
    }
  };
  EXPECT_EQ(read("float32", Argument::Kind::Arena, DType::BFloat16), "");
  EXPECT_EQ(read("float32", Argument::Kind::Arena, DType::Undefined), "");
  for (const auto& [type, kind, stored] : {std::tuple("float32", Argument::Kind::Arena, DType::Int8),
                                           std::tuple("float32", Argument::Kind::Input, DType::BFloat16),
                                           std::tuple("int32", Argument::Kind::Arena, DType::BFloat16)})
    EXPECT_NE(read(type, kind, stored).find("value 0 in memory of type"), std::string::npos) << type;
}

// Another user writes the file while it is opened, now what we signed, now what he would have run.
TEST(PackageFile, WhatWasVerifiedIsWhatIsUsed) {
  const TemporaryFolder folder(::testing::TempDir());
  const std::string path = folder.path() + "/a.dnnpkg";
  const std::string ours = written(package_with(std::string(100, 'o'), std::string(100'000, 'o')), kKey);
  const std::string theirs =
      written(package_with(std::string(100, 't'), std::string(100'000, 't')), PackageKey{std::string(32, 't')});
  ASSERT_EQ(ours.size(), theirs.size());
  write_file(path, ours);
  ::chmod(path.c_str(), 0666);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop) {
      for (const std::string* bytes : {&theirs, &ours}) write_in_place(path, *bytes);
    }
  });
  int trusted = 0, others = 0;
  for (int i = 0; i < 300; ++i) {
    try {
      const OpenedPackage opened = read_package(path, kKey, OpenedFor::Running);
      if (!opened.trusted) {
        ++others;
        continue;
      }
      ++trusted;
      EXPECT_EQ(opened.package->variants.at(0).code.binary, std::string(100, 'o'));
      EXPECT_EQ(as_text(opened.package->constants[0].bytes()), std::string(100'000, 'o'));
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Malformed) << e.what();
      ++others;
    }
  }
  stop = true;
  writer.join();
  write_in_place(path, ours);
  const OpenedPackage opened = read_package(path, kKey, OpenedFor::Running);
  write_in_place(path, theirs);
  ASSERT_TRUE(opened.trusted);
  EXPECT_EQ(as_text(opened.package->constants[0].bytes()), std::string(100'000, 'o'));
  RecordProperty("trusted", trusted);
  RecordProperty("others", others);
}

TEST(PackageFile, AKeyThatOthersMayReadOrChangeIsRefused) {
  const TemporaryFolder folder(::testing::TempDir());
  const std::string path = folder.path() + "/config/key";
  EXPECT_EQ(load_or_make_key(path).secret.size(), 32u);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat((folder.path() + "/config").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  const auto refused = [&](const char* reason) {
    try {
      load_or_make_key(path);
      ADD_FAILURE() << reason;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Environment);
      EXPECT_NE(std::string(e.what()).find(reason), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("remove it"), std::string::npos) << e.what();
    }
  };
  for (const mode_t mode : {0666, 0620, 0602}) {
    ::chmod(path.c_str(), mode);
    refused("others may write it");
  }
  for (const mode_t mode : {0640, 0604}) {
    ::chmod(path.c_str(), mode);
    refused("others may read it");
  }
  ::chmod(path.c_str(), 0600);
  EXPECT_EQ(load_or_make_key(path).secret.size(), 32u);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path.c_str(), 12345, static_cast<gid_t>(-1)), 0);
    refused("belongs to user 12345");
  }
}

}  // namespace
}  // namespace dnn
