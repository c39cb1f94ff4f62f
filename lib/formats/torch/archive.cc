// Torch's zip; see archive.h.
#include "formats/torch/archive.h"

#include <algorithm>

#include "base/text.h"
#include "formats/torch/signature.h"

namespace dnn::torch {
namespace {

// Text records: code, JSON, pickles. Storages are read where they lie.
constexpr uint64_t kMaxEntryText = uint64_t{256} << 20;

std::string top_folder(const std::vector<ZipArchive::Entry>& entries) {
  if (entries.empty()) return "";
  const size_t slash = entries[0].name.find('/');
  if (slash == std::string::npos) return "";
  std::string root = entries[0].name.substr(0, slash + 1);
  for (const ZipArchive::Entry& entry : entries) {
    if (!starts_with(entry.name, root)) return "";
  }
  return root;
}

}  // namespace

Archive::Archive(Bytes bytes, std::shared_ptr<const void> owner) : zip_(bytes), kept_(std::make_shared<Kept>()) {
  kept_->file = std::move(owner);
  root_ = top_folder(zip_.entries());
  for (const ZipArchive::Entry& entry : zip_.entries()) index_.emplace(entry.name.substr(root_.size()), &entry);
}

const ZipArchive::Entry& Archive::entry(const std::string& record) const {
  const auto found = index_.find(record);
  if (found == index_.end()) fail_malformed("the archive has no ", dnn::quoted(root_ + record));
  return *found->second;
}

std::vector<std::string> Archive::records(std::string_view prefix, std::string_view suffix) const {
  std::vector<std::string> result;
  for (const ZipArchive::Entry& entry : zip_.entries()) {
    const std::string name = entry.name.substr(root_.size());
    if (starts_with(name, prefix) && ends_with(name, suffix)) result.push_back(name);
  }
  return result;
}

std::string Archive::text(const std::string& record) const { return zip_.read(entry(record), kMaxEntryText); }

Bytes Archive::bytes(const std::string& record) {
  const ZipArchive::Entry& found = entry(record);
  if (found.method == 0) return zip_.stored(found);
  const auto [at, fresh] = kept_->inflated.emplace(record, std::string());
  if (fresh) at->second = zip_.read(found, kMaxEntryText);
  return as_bytes(at->second);
}

bool Archive::big_endian() const { return has("byteorder") && text("byteorder") == "big"; }

void read_extras(const Archive& archive, Graph* graph) {
  constexpr std::string_view kFolder = "extra/";
  for (const std::string& record : archive.records(kFolder, "")) {
    const std::string key = record.substr(kFolder.size());
    if (key.empty() || key == kSignatureKey) continue;
    const std::string text = archive.text(record);
    const auto printable = [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; };
    if (std::all_of(text.begin(), text.end(), printable)) graph->metadata.emplace_back(key, text);
  }
}

bool is_zip(Bytes bytes) { return starts_with(as_text(bytes.first(std::min<size_t>(bytes.size(), 4))), "PK\3\4"); }

bool has_record(Bytes bytes, const std::string& record) {
  if (!is_zip(bytes)) return false;
  try {
    return Archive(bytes, nullptr).has(record);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace dnn::torch
