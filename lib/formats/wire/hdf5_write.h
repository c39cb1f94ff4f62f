// Writing HDF5 files: a tree of groups and datasets, in the oldest form, which every reader takes: superblock 0,
// object headers 1, symbol tables, contiguous data, text of variable length in global heaps.
#pragma once
#include <list>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace dnn::hdf5 {

struct WrittenAttribute {
  std::string name;
  std::vector<std::string> texts;
  bool list = false;  // written as an array, whatever its length
};

// A group with members, or a dataset.
struct Written {
  std::string name;
  std::vector<WrittenAttribute> attributes;
  std::list<Written> members;
  Tensor data;  // undefined: a group

  // The member at the end of a path "a/b"; groups on the way are made.
  Written& at(std::string_view path);
  void set(std::string key, std::string text) { attributes.push_back({std::move(key), {std::move(text)}, false}); }
  void set(std::string key, std::vector<std::string> texts) {
    attributes.push_back({std::move(key), std::move(texts), true});
  }
};

// The file; the same bytes for the same tree. Unsupported: names that are empty or hold '/', attributes above 64 KiB.
Content to_content(const Written& root);

}  // namespace dnn::hdf5
