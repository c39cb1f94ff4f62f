// YAML text as a tree whose every node knows its line: what configurations are read from.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dnn::branch {

// A scalar, a list or a map. Scalars stay text; whoever reads one says what it must be.
struct Yaml {
  enum class Kind { Scalar, List, Map };
  struct Entry;

  Kind kind = Kind::Scalar;
  int line = 0;  // from 1
  std::string text;
  bool is_quoted = false;
  std::vector<Yaml> items;
  std::vector<Entry> entries;  // in the file's order; keys are unique

  // The value of a key, or null.
  const Yaml* find(std::string_view key) const;
  // "0.25", "[1, 2]": a short text of it, for messages.
  std::string shown() const;
};

struct Yaml::Entry {
  std::string key;
  int line = 0;
  Yaml value;
};

// The one document of a text. Malformed with "PATH:LINE: ..." for what is no YAML, for a key that is given twice, for more than 1 MiB or
// 16 levels; Unsupported for anchors, aliases and tags, which configurations do not have.
Yaml read_yaml(std::string_view text, const std::string& path);

}  // namespace dnn::branch
