// preprocess_hint: the preprocessing that a model probably wants, by its format, its writer and its file's name, for messages.
#pragma once
#include <string>
#include <string_view>

#include "compile/open.h"

namespace dnn {

// "MobileNetV2 of TensorFlow or Keras mostly takes --preprocess imagenet-tf"; "" where nothing is known. `format` is a row's name of
// formats.def, `producer` the tool that wrote the file, `path` the file.
std::string preprocess_hint(std::string_view format, std::string_view producer, const std::string& path);

// Throws Usage, with the hint, unless the model or package at `path` states a preprocessing of its own. Of a model it reads the file
// alone, so that nobody waits for a compilation first.
void require_stated_preprocess(const std::string& path, const OpenOptions& options);

}  // namespace dnn
