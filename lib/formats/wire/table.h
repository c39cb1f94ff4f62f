// LevelDB's table file: sorted keys with values in blocks, each with its checksum. Format: leveldb's doc/table_format.md.
#pragma once
#include <map>
#include <string>

#include "base/bytes.h"

namespace dnn {

// All keys with their values. Throws Malformed, and Unsupported for compressed blocks.
std::map<std::string, std::string> read_table(Bytes file);
// The file of these keys: one block, keys written out whole.
std::string write_table(const std::map<std::string, std::string>& entries);

}  // namespace dnn
