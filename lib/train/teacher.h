// Teachers: networks of any format whose answers another one learns.
#pragma once
#include <functional>
#include <string>

#include "image/labels.h"
#include "train/batches.h"

namespace dnn::train {

struct Teacher {
  Graph graph;  // one output: logits [batch, classes], in the order of the data's classes
  NetworkInput input;
};

// Reads the model; `preprocess`: how the trained network's images are made, where the teacher's file does not say it. Throws Unsupported,
// and Usage where its classes are not those of the data.
Teacher read_teacher(const std::string& path, const LabelSet& classes, const std::string& preprocess_name,
                     const PreprocessOptions& spelled_out, bool apply_orientation,
                     const std::function<void(const std::string&)>& warn);

}  // namespace dnn::train
