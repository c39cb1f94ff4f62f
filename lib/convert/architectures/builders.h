// The functions that architectures.def names: each builds its network around the parameters. Names of parameters and extents are
// those of torchvision's models unless the row says otherwise.
#pragma once
#include "convert/architectures/modules.h"

namespace dnn::architecture {

#define DNN_ARCHITECTURE(name, help, size, parameter) Graph name(Modules& m, int64_t image_size);
#include "convert/architectures/architectures.def"

}  // namespace dnn::architecture
