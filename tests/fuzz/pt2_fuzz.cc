// Fuzz target: exported programs. An archive goes to the reader as it is; other input is the JSON graph of a small archive
// around it. Only Malformed and Unsupported may escape.
#include "formats/torch/pt2.h"

#include "base/zip_write.h"
#include "formats/torch/archive.h"
#include "fuzz/fuzz.h"

namespace {

constexpr const char* kConfig =
    R"({"config":{"w":{"path_name":"weight_0","is_param":true,"use_pickle":false,"tensor_meta":{"dtype":7,"sizes":)"
    R"([{"as_int":4},{"as_int":3},{"as_int":3},{"as_int":3}],"strides":[{"as_int":27},{"as_int":9},{"as_int":3},{"as_int":1}],)"
    R"("storage_offset":{"as_int":0},"requires_grad":true,"layout":7}}}})";

std::string archive(std::string_view json) {
  dnn::ZipWriter zip;
  zip.add("net/models/model.json", std::string(json));
  zip.add("net/data/weights/model_weights_config.json", kConfig);
  zip.add("net/data/weights/weight_0", std::string(432, '\1'));
  return zip.content().text();
}

}  // namespace

DNN_FUZZ(pt2) {
  const dnn::Bytes input = dnn::fuzz::as_input(data, size);
  const std::string made = dnn::torch::is_zip(input) ? "" : archive(dnn::as_text(input));
  const dnn::ModelSource source = dnn::fuzz::as_model(made.empty() ? input : dnn::as_bytes(made));
  if (!dnn::pt2::sniff(source)) return 0;
  return dnn::fuzz::refuse_or_accept([&] { dnn::pt2::read(source); });
}
