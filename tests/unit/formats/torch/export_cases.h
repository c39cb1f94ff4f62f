// The cases of export_cases.txt: a graph, and the statements that are written for it.
#pragma once
#include <string>
#include <vector>

#include "base/file.h"
#include "graph/text.h"

namespace dnn::torch {

struct ExportCase {
  std::string op, body, text;
};

inline std::vector<ExportCase> export_cases() {
  std::vector<ExportCase> all;
  bool answer = false;
  for (const std::string& line : split(read_file("unit/formats/torch/export_cases.txt"), '\n')) {
    if (line.empty() || line[0] == '#') continue;
    if (starts_with(line, "== ")) {
      all.push_back({line.substr(3), "", ""});
      answer = false;
    } else if (line == "--") {
      answer = true;
    } else {
      (answer ? all.back().text : all.back().body) += line + "\n";
    }
  }
  return all;
}

inline Graph graph_of(const std::string& body) { return parse_graph("graph \"g\" {\n  opset 28\n" + body + "\n}\n"); }

}  // namespace dnn::torch
