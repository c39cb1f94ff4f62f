// Which operators each format reads and writes, from the rows that its reader and writer use.
#pragma once
#include <string>
#include <vector>

#include "formats/format.h"

namespace dnn {

struct FormatOperator {
  std::string name;
  bool ours = false;  // an operator of the IR; else the format's own name for one
  bool reads = false, writes = false;
};

// Empty for a format without rows: one that holds no operators, or all of the IR's.
std::vector<FormatOperator> format_operators(const Format& format);

}  // namespace dnn
