// UniqueNames: names that are taken, and the first free one like a wanted one.
#pragma once
#include <map>
#include <set>
#include <string>

#include "base/text.h"

namespace dnn {

class UniqueNames {
 public:
  // False where the name is taken already.
  bool insert(const std::string& name) { return names_.insert(name).second; }
  void erase(const std::string& name) { names_.erase(name); }
  // `wanted`, or `wanted` with the first free _N suffix; taken from now on.
  std::string take(const std::string& wanted) {
    const std::string base = wanted.empty() ? "tensor" : wanted;
    std::string name = base;
    for (int& n = suffixes_[base]; !names_.insert(name).second;) name = cat(base, "_", ++n);
    return name;
  }

 private:
  std::set<std::string> names_;
  std::map<std::string, int> suffixes_;  // the last one tried, by name
};

}  // namespace dnn
