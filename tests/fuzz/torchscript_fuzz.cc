// Fuzz target: TorchScript. An archive goes to the reader as it is; other input is the code of a small archive around it, as a
// zip's checksums would stop every change. Only Malformed and Unsupported may escape, and what is read prints and parses back.
#include "formats/torch/torchscript.h"

#include "base/zip_write.h"
#include "formats/torch/archive.h"
#include "fuzz/fuzz.h"

namespace {

std::string text(std::string_view s) {
  return std::string("X") + static_cast<char>(s.size()) + std::string(3, '\0') + std::string(s);
}
std::string ints(const std::vector<int>& values) {
  std::string result = "(";
  for (int value : values) result += {'K', static_cast<char>(value)};
  return result + "t";
}

// A float32 tensor of storage 0.
std::string tensor(const std::vector<int>& sizes, const std::vector<int>& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nFloatStorage\n" + text("0") +
         text("cpu") + "K\x6ctQK" + std::string(1, '\0') + ints(sizes) + ints(strides) +
         "\x89"
         "ccollections\nOrderedDict\n)RtR";
}

// Net(w: [4, 3, 3, 3], b: [4], n: 2, training: False)
std::string module() {
  return "\x80\x02"
         "c__torch__\nNet\n)\x81}(" +
         text("w") + tensor({4, 3, 3, 3}, {27, 9, 3, 1}) + text("b") + tensor({4}, {1}) + text("n") + "K\2" +
         text("training") + "\x89ub.";
}

std::string script_archive(std::string_view code) {
  dnn::ZipWriter zip;
  zip.add("net/data.pkl", module());
  zip.add("net/constants.pkl", "\x80\x02(" + tensor({4}, {1}) + "t.");
  zip.add("net/code/__torch__.py", std::string(code));
  zip.add("net/data/0", std::string(432, '\1'));
  zip.add("net/constants/0", std::string(432, '\1'));
  zip.add("net/version", "3\n");
  return zip.content().text();
}

}  // namespace

DNN_FUZZ(torchscript) {
  const dnn::Bytes input = dnn::fuzz::as_input(data, size);
  const std::string made = dnn::torch::is_zip(input) ? "" : script_archive(dnn::as_text(input));
  const dnn::ModelSource source = dnn::fuzz::as_model(made.empty() ? input : dnn::as_bytes(made));
  if (!dnn::torchscript::sniff(source)) return 0;
  return dnn::fuzz::refuse_or_accept([&] {
    const dnn::Graph graph = dnn::torchscript::read(source);
    dnn::fuzz::expect_text_round_trip(graph);
  });
}
