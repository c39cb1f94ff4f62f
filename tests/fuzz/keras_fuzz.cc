// Fuzz target: .h5 and .keras files; what is read prints and parses back, and what is written of it can be read.
#include "formats/keras/keras.h"

#include "fuzz/fuzz.h"
#include "tensor/tensor.h"

DNN_FUZZ(keras) {
  const dnn::ModelSource source = dnn::fuzz::as_model(dnn::fuzz::as_input(data, size));
  const bool zip = dnn::keras::sniff(source);
  if (!zip && !dnn::keras_h5::sniff(source)) return 0;
  return dnn::fuzz::refuse_or_accept([&] {
    const dnn::Graph graph = zip ? dnn::keras::read(source) : dnn::keras_h5::read(source);
    dnn::fuzz::expect_text_round_trip(graph);
    const dnn::ModelFiles files = zip ? dnn::keras_h5::to_files(graph, {}) : dnn::keras::to_files(graph, {});
    dnn::read_model(dnn::model_in_memory("-", files));
  });
}
