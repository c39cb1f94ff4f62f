// A package of a graph in text, as a compiler would have left it without passes.
#pragma once
#include <memory>
#include <string>

#include "graph/text.h"
#include "package/package.h"

namespace dnn {

inline std::shared_ptr<const Package> package_of(const std::string& text) {
  return std::make_shared<const Package>(interpreted_package(parse_graph(text)));
}

}  // namespace dnn
