// Files of Keras that tests build: a configuration, and weights by their names.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/zip_write.h"
#include "formats/keras/keras.h"
#include "formats/wire/hdf5_write.h"

namespace dnn::keras {

struct LayerWeights {
  std::string layer;
  std::vector<std::pair<std::string, Tensor>> weights;  // by name
};

inline std::string h5_file(const std::string& config, const std::vector<LayerWeights>& layers,
                           const std::string& version = "2.15.0") {
  hdf5::Written root;
  root.set("model_config", config);
  root.set("keras_version", version);
  root.set("backend", "tensorflow");
  std::vector<std::string> names;
  for (const LayerWeights& layer : layers) names.push_back(layer.layer);
  root.at("model_weights").set("layer_names", names);
  for (const LayerWeights& layer : layers) {
    hdf5::Written& group = root.at("model_weights/" + layer.layer);
    std::vector<std::string> weight_names;
    for (const auto& [name, tensor] : layer.weights) {
      weight_names.push_back(name);
      group.at(name).data = tensor;
    }
    group.set("weight_names", weight_names);
  }
  return hdf5::to_content(root).text();
}

// `weights` by path inside model.weights.h5: "layers/conv2d/vars/0".
inline std::string keras_file(const std::string& config, const std::vector<std::pair<std::string, Tensor>>& weights) {
  hdf5::Written root;
  for (const auto& [path, tensor] : weights) root.at(path).data = tensor;
  ZipWriter zip;
  zip.add("metadata.json", R"({"keras_version": "3.15.1"})");
  zip.add("config.json", config);
  zip.add("model.weights.h5", hdf5::to_content(root).text());
  return zip.content().text();
}

inline Graph read_text(const std::string& bytes) {
  const auto text = std::make_shared<const std::string>(bytes);
  ModelSource source;
  source.path = "-";
  source.bytes = as_bytes(*text);
  source.owner = text;
  return read_model(source);
}

inline std::vector<float> counting(size_t n) {
  std::vector<float> values;
  for (size_t i = 0; i < n; ++i) values.push_back((static_cast<float>(i % 13) - 6) / 4);
  return values;
}

}  // namespace dnn::keras
