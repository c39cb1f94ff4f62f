// Options that became tools of their own, which the old tool hands its command line to.
#pragma once
#include <string>
#include <vector>

#include "cli/cli.h"

namespace dnn::cli {

struct MovedOption {
  std::string name;     // "--passes"
  std::string as;       // the new tool's option for the value behind it; "" for a flag, which is left out
  std::string instead;  // the command to use
  Program (*tool)();
};

// The program, but with one of `moved` on the command line the other tool, after a warning (not with --quiet). `moved` must
// outlive what it returns.
Program with_moved(const Program& program, const std::vector<MovedOption>& moved);

}  // namespace dnn::cli
