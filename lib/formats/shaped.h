// Reading with shapes of inputs at hand: some files lack them, and what their programs compute depends on them.
#pragma once
#include "formats/format.h"

namespace dnn {

// read_model() with "NAME:1x3x224x224" for inputs ('?' keeps an extent open), which the readers of programs take into account.
Graph read_model(const ModelSource& source, const std::vector<std::string>& shapes);

}  // namespace dnn
