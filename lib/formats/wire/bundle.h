// Tensor bundle: how TensorFlow stores variables, an index (a table of entries by key) beside shards of raw bytes.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "formats/format.h"
#include "tensor/tensor.h"

namespace dnn {

class TensorBundle {
 public:
  // `shard(i, n)` gives the bytes of shard i of n. Throws Malformed, Unsupported.
  TensorBundle(Bytes index, std::function<SharedBytes(int shard, int count)> shard);

  bool has(const std::string& key) const { return entries_.count(key) != 0; }
  // One tensor, checked against its checksum; it keeps the shard alive. Throws Malformed, Unsupported.
  Tensor read(const std::string& key);

 private:
  Bytes content(int shard);

  std::map<std::string, std::string> entries_;  // messages, not parsed yet
  std::function<SharedBytes(int, int)> open_;
  int count_ = 0;
  std::map<int, SharedBytes> shards_;
};

// The index and the one shard of these tensors.
struct BundleFiles {
  std::string index;
  Content shard;
};
BundleFiles write_bundle(const std::map<std::string, Tensor>& tensors);

}  // namespace dnn
