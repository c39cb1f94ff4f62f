// NpzFolder; see npz.h.
#include "stream/npz.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "base/zip_write.h"
#include "tensor/npy.h"

namespace dnn::stream {
namespace {

// A sample's path as a part of a file's name: nothing in it leads out of the folder.
std::string stem_of(const std::string& path) {
  std::string stem = std::filesystem::path(path).stem().string();
  std::replace_if(
      stem.begin(), stem.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_' && c != '.'; }, '_');
  constexpr size_t kMost = 100;
  return stem.substr(0, kMost);
}

}  // namespace

void NpzFolder::open_run() {
  flush();
  samples_.clear();
  paths_.clear();
  ++runs_;
}

void NpzFolder::add(const Record& record) {
  if (std::holds_alternative<Header>(record)) return open_run();
  if (const auto* sample = std::get_if<Sample>(&record)) {
    if (tensors_came_) flush();
    paths_[sample->id] = sample->path;
    if (sample->tensor.defined()) put(sample->id, "input", sample->tensor);
    tensors_came_ = false;  // it stands with its sample, and others of the batch may follow
    return;
  }
  if (const auto* prediction = std::get_if<Prediction>(&record)) {
    for (const auto& [name, tensor] : prediction->outputs) put(prediction->sample, name, tensor);
    return;
  }
  const auto* tensor = std::get_if<TensorRecord>(&record);
  if (tensor == nullptr || !tensor->sample) return;  // a parameter is the model's, not a sample's
  put(*tensor->sample, tensor->name, tensor->tensor);
}

void NpzFolder::put(int64_t sample, const std::string& name, const Tensor& tensor) {
  Arrays& arrays = samples_[sample];
  if (arrays.written)
    fail_malformed("tensors of sample ", sample, " stand apart in the stream, so its file is written already");
  tensors_came_ = true;
  const bool there =
      std::any_of(arrays.by_name.begin(), arrays.by_name.end(), [&](const auto& entry) { return entry.first == name; });
  if (!there) arrays.by_name.emplace_back(name, tensor);
}

void NpzFolder::flush() {
  tensors_came_ = false;
  const std::string folder = runs_ < 2 ? folder_ : cat(folder_, "/run", runs_);
  for (auto& [id, arrays] : samples_) {
    if (arrays.written) continue;
    make_folders(folder);
    ZipWriter zip(64);
    for (const auto& [name, tensor] : arrays.by_name) zip.add(name + ".npy", format_npy(tensor));
    const std::string& path = paths_[id];
    const std::string stem = stem_of(path);
    const std::string file = cat(folder, "/", id, stem.empty() ? "" : "_", stem, ".npz");
    AtomicFile out(file);
    zip.content().write(out);
    out.commit();
    wrote_(file, path, arrays.by_name.size());
    arrays = {.by_name = {}, .written = true};
  }
}

}  // namespace dnn::stream
