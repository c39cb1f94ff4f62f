// The functions of the classes of faults, from the rows of faults.def.
#pragma once
#include "faults/edit.h"

namespace dnn::faults {

#define DNN_FAULT(name, function, like) bool function(FaultContext& context);
#include "faults/faults.def"

}  // namespace dnn::faults
