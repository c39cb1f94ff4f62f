// What TFLite files say of images and classes: read into the graph's "preprocess" and "labels", and written back.
#include "formats/tflite/metadata.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/zip.h"
#include "graph/text.h"
#include "unit/formats/tflite/model_builder.h"

namespace dnn::tflite {
namespace {

std::string entry_of(const Graph& graph, const std::string& key) {
  for (const auto& [name, text] : graph.metadata) {
    if (name == key) return text;
  }
  return "";
}

Graph described(const std::string& preprocess, const std::string& labels) {
  Graph graph = parse_graph("graph \"g\" {\n  opset 21\n  input x: float32[1,3]\n  y = Relu(x)\n  output y\n}");
  if (!preprocess.empty()) graph.metadata.emplace_back("preprocess", preprocess);
  if (!labels.empty()) graph.metadata.emplace_back("labels", labels);
  return graph;
}

constexpr const char* kTorch =
    R"({"name":"imagenet-torch","resize":"short-crop","scale":1,"divisor":255,"channels":"rgb","mean":[0.5,0.25,0.75],"std":[0.5,0.25,1]})";

TEST(TfliteMetadata, EntriesOfOursComeBackAsTheyAre) {
  const Graph graph = described(kTorch, "one\ntwo\nthrée\n");
  const Graph again = read_bytes(to_files(graph)[0].bytes.text());
  EXPECT_EQ(entry_of(again, "preprocess"), kTorch);
  EXPECT_EQ(entry_of(again, "labels"), "one\ntwo\nthrée\n");
}

TEST(TfliteMetadata, TheFormatsOwnFormSaysTheSame) {
  const Graph graph = described(kTorch, "one\ntwo\nthree\n");
  const std::string structure = metadata_of(graph), archive = archive_of(graph);
  Graph bare = described("", "");
  read_metadata(as_bytes(structure), as_bytes(archive), &bare);
  EXPECT_EQ(
      entry_of(bare, "preprocess"),
      R"({"name":"custom","resize":"stretch","channels":"rgb","mean":[127.5,63.75,191.25],"std":[127.5,63.75,255.0]})");
  EXPECT_EQ(entry_of(bare, "labels"), "one\ntwo\nthree\n");
  Graph told = described("imagenet-tf", "");
  read_metadata(as_bytes(structure), Bytes(),
                &told);  // what the graph says already stays; labels without a file are none
  EXPECT_EQ(entry_of(told, "preprocess"), "imagenet-tf");
  EXPECT_EQ(entry_of(told, "labels"), "");
}

TEST(TfliteMetadata, CharactersOfUtf8) {
  EXPECT_TRUE(is_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9f"));
  for (const char* text : {"\xff", "\xc3", "\xc3(", "\xe2\x82", "\x80"}) EXPECT_FALSE(is_utf8(text)) << text;
}

TEST(TfliteMetadata, NothingToSayWritesNothing) {
  EXPECT_EQ(metadata_of(described("", "")), "");
  EXPECT_EQ(archive_of(described(kTorch, "")), "");
  EXPECT_EQ(metadata_of(described("{\"mean\": 3}", "")), "");
  EXPECT_EQ(metadata_of(described("imagenet-torch", "")), "");
}

TEST(TfliteMetadata, DamageIsMalformed) {
  const std::string whole = metadata_of(described(kTorch, "one\n"));
  for (size_t cut = 0; cut < whole.size(); cut += 7) {
    Graph graph = described("", "");
    try {
      const std::string part = whole.substr(0, cut);
      read_metadata(as_bytes(part), Bytes(), &graph);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Malformed);
    }
  }
  Graph graph = described("", "");
  EXPECT_THROW(read_metadata(as_bytes(std::string_view("M001")), Bytes(), &graph), Error);
}

TEST(TfliteMetadata, DeployedFiles) {
  const char* data = std::getenv("DNN_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "DNN_TEST_DATA is not set";
  const std::string path =
      std::string(data) + "/models/mobilenet_v1_0.25_224_tflite/mobilenet_v1_0.25_224_1_metadata_1.tflite";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const Graph graph = read_bytes(read_file(path));
  EXPECT_EQ(
      entry_of(graph, "preprocess"),
      R"({"name":"custom","resize":"stretch","channels":"rgb","mean":[127.5,127.5,127.5],"std":[127.5,127.5,127.5]})");
  EXPECT_EQ(entry_of(graph, "labels").substr(0, 17), "background\ntench\n");
}

}  // namespace
}  // namespace dnn::tflite
