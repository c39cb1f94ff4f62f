// Presets: what else a command line says where it names one.
#pragma once
#include <string>
#include <vector>

#include "train/model.h"

namespace dnn::train {

std::vector<std::string> train_preset_names();

// Sets what the preset says, but for options that are in `given` (by their long names). Throws Usage for another name; "" is none.
//   kenning-pets  Kenning's scenario for the Oxford pets: dense layers of 1024, 512 and 128 with ReLU and dropout 0.5 on a frozen
//                 network, Adam, images stretched and normalised as for ImageNet, a flip and changes of brightness and contrast, a
//                 quarter for validation, TensorBoard's files with histograms, and an io_spec beside the output
void apply_preset(const std::string& name, const std::vector<std::string>& given, TrainRequest* request);

// A data folder of nothing but train/ and test/ (or val/, validation/) is those two; a validation that is given stays. Returns a line
// that says so, "" where it is not.
std::string split_data_folder(const std::vector<std::string>& given, TrainRequest* request);

}  // namespace dnn::train
