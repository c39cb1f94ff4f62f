// preprocess_hint; see preprocess_hint.h.
#include "infer/preprocess_hint.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "formats/format.h"
#include "image/preprocess.h"
#include "package/file.h"

namespace dnn {
namespace {

// Networks of TensorFlow and Keras by a part of their names, in lower case without '-' and '_'. The first row that fits counts.
struct Family {
  const char* part;
  const char* name;
  const char* preprocess;
};

constexpr Family kTensorFlow[] = {
    {"efficientnet", "EfficientNet", "none --resize crop"},
    {"mobilenetv3", "MobileNetV3", "none --resize crop"},
    {"convnext", "ConvNeXt", "none --resize crop"},
    {"densenet", "DenseNet", "imagenet-torch"},
    {"mobilenet", "MobileNet", "imagenet-tf"},
    {"inception", "Inception", "imagenet-tf"},
    {"xception", "Xception", "imagenet-tf"},
    {"nasnet", "NASNet", "imagenet-tf"},
    {"resnet50v2", "ResNetV2", "imagenet-tf"},
    {"resnet101v2", "ResNetV2", "imagenet-tf"},
    {"resnet152v2", "ResNetV2", "imagenet-tf"},
    {"resnetv2", "ResNetV2", "imagenet-tf"},
    {"resnet", "ResNet", "imagenet-caffe"},
    {"vgg", "VGG", "imagenet-caffe"},
};

std::string plain_name(const std::string& path) {
  const std::filesystem::path file(path);
  std::string name = (file.has_filename() ? file : file.parent_path()).stem().string();
  name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return c == '-' || c == '_' || c == '.'; }),
             name.end());
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

bool is_any(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

}  // namespace

std::string preprocess_hint(std::string_view format, std::string_view producer, const std::string& path) {
  if (is_any(format, {"torchscript", "pt2", "statedict", "safetensors"}) || starts_with(producer, "pytorch"))
    return "networks of PyTorch mostly take --preprocess imagenet-torch";
  const bool keras = is_any(format, {"keras", "h5"});
  if (!keras && !is_any(format, {"tflite", "savedmodel", "graphdef"}) && !starts_with(producer, "tf2onnx")) return "";
  const std::string name = plain_name(path);
  for (const Family& family : kTensorFlow) {
    if (name.find(family.part) != std::string::npos)
      return cat(family.name, keras ? " of Keras" : " of TensorFlow and Keras", " mostly takes --preprocess ",
                 family.preprocess);
  }
  return "";
}

void require_stated_preprocess(const std::string& path, const OpenOptions& options) {
  std::error_code not_there;
  if (!std::filesystem::is_directory(path, not_there) && looks_like_package(as_bytes(read_head(path, 8)))) return;
  const Graph graph = read_bound(path, options);
  for (const auto& [key, text] : graph.metadata) {
    if (key == "preprocess" && !text.empty()) return;
  }
  const std::string hint = preprocess_hint(sniff_format(open_model(path)).name, graph.producer, path);
  fail_usage("images want a preprocessing, and ", path, " states none: --preprocess ", join(preprocess_names(), "|"),
             hint.empty() ? "" : cat("; ", hint),
             "; dnn-localize --preprocessing finds it (docs/howto/choose-a-preprocessing.md)");
}

}  // namespace dnn
