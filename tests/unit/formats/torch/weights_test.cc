// Weights without a graph: state dicts of both containers, checkpoints, safetensors, and hostile pickles.
#include "formats/torch/weights.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "formats/torch/archive.h"
#include "unit/formats/torch/outside_data.h"

namespace dnn {
namespace {

Graph read_data(const std::string& path) { return read_model(cat(data_folder(), "/", path)); }

ModelSource source_of(std::string text) { return model_in_memory("-", {{"", std::move(text)}}); }

std::string safetensors_file(const std::string& header, const std::string& data) {
  const uint64_t n = header.size();
  return std::string(reinterpret_cast<const char*>(&n), 8) + header + data;
}

TEST(Safetensors, ReadsTensorsInTheFilesOrder) {
  const float values[] = {1, 2, 3};
  const std::string data(reinterpret_cast<const char*>(values), 12);
  const std::string header = R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("a":{"dtype":"F32","shape":[],"data_offsets":[8,12]},"__metadata__":{"format":"pt"}})";
  const ModelSource source = source_of(safetensors_file(header, data));
  ASSERT_TRUE(safetensors::sniff(source));
  const Graph graph = safetensors::read(source);
  ASSERT_EQ(graph.value_count(), 2);
  EXPECT_EQ(graph.value(0).name, "b");
  EXPECT_TRUE(graph.constant(0)->identical(Tensor::of<float>({2}, {1, 2})));
  EXPECT_TRUE(graph.constant(1)->identical(Tensor::scalar(3.0f)));
  EXPECT_EQ(graph.metadata.at(0).second, "pt");
}

TEST(Safetensors, RefusesWhatDoesNotFit) {
  const auto kind = [](const std::string& entry) {
    try {
      safetensors::read(source_of(safetensors_file("{\"a\":" + entry + "}", "12345678")));
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::Internal;
  };
  EXPECT_EQ(kind(R"({"dtype":"F32","shape":[2],"data_offsets":[0,9]})"), ErrorKind::Malformed);
  EXPECT_EQ(kind(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"), ErrorKind::Malformed);
  EXPECT_EQ(kind(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"), ErrorKind::Malformed);
  EXPECT_EQ(kind(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"), ErrorKind::Malformed);
  EXPECT_EQ(kind(R"({"dtype":"F4","shape":[2],"data_offsets":[0,8]})"), ErrorKind::Unsupported);
  EXPECT_EQ(kind("[" + std::string(100, '[') + std::string(100, ']') + "]"), ErrorKind::Malformed);
}

TEST(StateDict, ZipAndOldStreamHoldTheSame) {
  DNN_NEED_DATA();
  const Graph zip = read_data("derived/squeezenet1_1_statedict.pth");
  const Graph stream = read_data("derived/squeezenet1_1_statedict_legacy.pth");
  const Graph onnx = read_data("derived/squeezenet1_1_torch1.13_opset13.onnx");
  ASSERT_EQ(zip.value_count(), 52);
  ASSERT_EQ(stream.value_count(), 52);
  for (ValueId v = 0; v < zip.value_count(); ++v) {
    EXPECT_EQ(zip.value(v).name, stream.value(v).name);
    EXPECT_TRUE(zip.constant(v)->identical(*stream.constant(v)));
    const Tensor* exported = onnx.constant(onnx.find_value(zip.value(v).name));
    ASSERT_NE(exported, nullptr) << zip.value(v).name;
    EXPECT_TRUE(zip.constant(v)->identical(*exported));
  }
}

TEST(StateDict, CheckpointsAreOpened) {
  DNN_NEED_DATA();
  const Graph resnet = read_data("models/cifar10_resnet_pt/resnet20-12fca82f.th");
  const ValueId conv = resnet.find_value("conv1.weight");  // "module.conv1.weight" in the file
  ASSERT_NE(conv, kNoValue);
  EXPECT_EQ(resnet.constant(conv)->shape(), (Shape{16, 3, 3, 3}));
  EXPECT_GT(read_data("models/mobilenet_v1_0.25_pt/mobilenetV1X0.25_pretrain.tar").value_count(), 100);
  EXPECT_GT(read_data("format-samples/pt113_ckpt.pth").value_count(), 10);
}

TEST(StateDict, APickledModuleIsRefusedByItsClass) {
  DNN_NEED_DATA();
  try {
    read_data("format-samples/pt113_wholemodule.pt");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(e.what()).find("__main__.T"), std::string::npos) << e.what();
  }
}

// No file of the suite may crash, hang or get more than a refusal; each malicious one that is a pickle is refused by name.
TEST(StateDict, MaliciousPicklesAreRefused) {
  DNN_NEED_DATA();
  size_t n_named = 0;
  for (const char* folder : {"data", "data2"}) {
    for (const auto& file : std::filesystem::directory_iterator(cat(data_folder(), "/suites/picklescan/", folder))) {
      const std::string name = file.path().filename().string();
      try {
        read_model(file.path().string());
        EXPECT_EQ(name, "pytorch_model.bin");
      } catch (const Error& e) {
        EXPECT_TRUE(e.kind() == ErrorKind::Malformed || e.kind() == ErrorKind::Unsupported) << name << ": " << e.what();
        if (std::string(e.what()).find("Python global") != std::string::npos) ++n_named;
      }
    }
  }
  EXPECT_GE(n_named, 85u);
}

}  // namespace
}  // namespace dnn
