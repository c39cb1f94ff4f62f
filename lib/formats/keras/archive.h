// The two files that Keras keeps models in: what they hold of the model and where its weights are.
#pragma once
#include <string>

#include "formats/format.h"
#include "formats/keras/config.h"

namespace dnn::keras {

// Where dnn-tools keeps a model's metadata in these files.
inline constexpr const char* kMetadataKey = "dnn-tools.metadata";

// "conv2d" for Conv2D: the name that paths of weights in a .keras file are made of.
std::string snake_case(const std::string& name);

struct Archive {
  Model model;
  int version = 2;             // of the Keras that wrote it: 1, 2 or 3
  std::string producer;        // "keras 3.15.1"
  bool flips_kernels = false;  // convolutions are Theano's, which turn the kernel round
  std::vector<std::pair<std::string, std::string>> metadata;
};

// A file of HDF5: model_config in an attribute, weights by weight_names.
Archive open_h5(const ModelSource& source);
// A zip file of config.json and model.weights.h5.
Archive open_zip(const ModelSource& source);

}  // namespace dnn::keras
