// Objects of TorchScript programs: modules with their attributes, and packed weights.
#pragma once
#include "formats/torch/value.h"

namespace dnn::torch {

struct Object {
  std::string class_name;  // "__torch__.torch.nn.modules.conv.Conv2d"
  std::string path;        // where the root module has it: "features.0"
  std::map<std::string, Any> attributes;
  std::map<std::string, int32_t> unread;  // attributes that still are values of data.pkl
};

}  // namespace dnn::torch
