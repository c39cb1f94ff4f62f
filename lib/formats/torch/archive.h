// The zip that torch.save, torch.jit.save and torch.export.save write: records below one top folder, or below none.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/zip.h"
#include "formats/format.h"

namespace dnn::torch {

class Archive {
 public:
  // Throws Malformed.
  Archive(Bytes bytes, std::shared_ptr<const void> owner);

  bool has(const std::string& record) const { return index_.count(record) != 0; }
  // Names of records that begin and end so, below the top folder, in the file's order.
  std::vector<std::string> records(std::string_view prefix, std::string_view suffix) const;
  // A record's content; Malformed naming it where there is none.
  std::string text(const std::string& record) const;
  // A record's content: part of the file where it is stored, else inflated and kept.
  Bytes bytes(const std::string& record);
  // The numbers in the file stand in the other order of bytes.
  bool big_endian() const;
  // Keeps what bytes() gave alive.
  std::shared_ptr<const void> owner() const { return kept_; }

 private:
  struct Kept {
    std::shared_ptr<const void> file;
    std::map<std::string, std::string> inflated;
  };
  const ZipArchive::Entry& entry(const std::string& record) const;

  ZipArchive zip_;
  std::string root_;  // "archive/"
  std::unordered_map<std::string, const ZipArchive::Entry*> index_;
  std::shared_ptr<Kept> kept_;
};

// The archive's extra files that are text, as metadata of the graph; our own signature aside.
void read_extras(const Archive& archive, Graph* graph);

// Whether the bytes are a zip at all.
bool is_zip(Bytes bytes);
// Whether the bytes are a zip of torch's with this record; never throws.
bool has_record(Bytes bytes, const std::string& record);

}  // namespace dnn::torch
