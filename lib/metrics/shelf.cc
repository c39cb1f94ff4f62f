// A shelf of tensors; see shelf.h.
#include "metrics/shelf.h"

#include <sys/mman.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace dnn::metrics {
namespace {

constexpr size_t kChunk = size_t{16} << 20;  // bytes, or one tensor that is larger
constexpr int kOffsetBits = 40;              // of a place; above are the chunk's
constexpr size_t kAlignment = 16;
constexpr size_t kLetGo = size_t{32} << 20;  // bytes read from files

}  // namespace

Shelved Shelf::put(const std::string& name, const Tensor& tensor) {
  const auto [kind, is_new] =
      kinds_.emplace(Kind{name, tensor.dtype(), tensor.shape()}, static_cast<uint32_t>(kinds_.size()));
  if (is_new) by_number_.push_back(&kind->first);
  if (tensor.dtype() == DType::String) return {0, kind->second};
  const Bytes bytes = tensor.bytes();
  if (!open_.empty() && open_.size() + bytes.size() > kChunk) close_chunk();
  const Shelved shelved{(uint64_t{chunks_.size()} << kOffsetBits) | open_.size(), kind->second};
  if (open_.size() + bytes.size() >= uint64_t{1} << kOffsetBits)
    fail_unsupported("an output of ", bytes.size(), " bytes");
  open_.insert(open_.end(), bytes.begin(), bytes.end());
  open_.resize((open_.size() + kAlignment - 1) / kAlignment * kAlignment);
  return shelved;
}

void Shelf::close_chunk() {
  open_.shrink_to_fit();
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(open_));
  open_ = {};
  in_memory_ += owner->size();
  chunks_.push_back({{Bytes(*owner), owner}, false});
  if (in_memory_ > limit_) spill();
}

void Shelf::spill() {
  Content content;
  for (const Chunk& chunk : chunks_) {
    if (!chunk.in_file) content.append(chunk.bytes);
  }
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  if (error) fail_environment("no folder for temporary files ($TMPDIR): ", error.message());
  const SharedBytes file = write_nameless(folder, content);
  size_t at = 0;
  for (Chunk& chunk : chunks_) {
    if (chunk.in_file) continue;
    const size_t size = chunk.bytes.bytes.size();
    chunk = {{file.bytes.subspan(at, size), file.owner}, true};
    at += size;
  }
  in_memory_ = 0;
  files_.push_back(file);
}

void Shelf::let_go() const {
  for (const SharedBytes& file : files_) {
    // The pages are those of a file and nobody writes to them: who still reads them gets them again.
    ::madvise(const_cast<std::byte*>(file.bytes.data()), file.bytes.size(), MADV_DONTNEED);
  }
}

void Shelf::close() {
  if (!open_.empty()) close_chunk();
}

std::pair<std::string, Tensor> Shelf::get(const Shelved& shelved) const {
  const Kind& kind = *by_number_[shelved.kind];
  if (kind.dtype == DType::String) return {kind.name, Tensor(kind.dtype, {0})};
  const size_t size = static_cast<size_t>(element_count(kind.shape)) * dtype_size(kind.dtype);
  if (size == 0) return {kind.name, Tensor(kind.dtype, kind.shape)};
  const Chunk& chunk = chunks_[shelved.place >> kOffsetBits];
  if (chunk.in_file && n_read_from_files_.fetch_add(size) > kLetGo) {
    n_read_from_files_ = 0;
    let_go();
  }
  const size_t offset = shelved.place & ((uint64_t{1} << kOffsetBits) - 1);
  return {kind.name, Tensor::view(kind.dtype, kind.shape, chunk.bytes.bytes.subspan(offset, size), chunk.bytes.owner)};
}

}  // namespace dnn::metrics
