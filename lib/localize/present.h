// Presentation of a localisation: a table for people, JSON for programs.
#pragma once
#include <string>

#include "localize/localize.h"

namespace dnn {

struct LocalizePresentation {
  std::string source, target;       // what they are called: paths
  std::string sort = "divergence";  // "divergence" (relative error), "added", "order" (of execution), or "labels" (p)
  int64_t top = 20;                 // rows of each table; 0 for all
};

// The first divergent layer with what is known of its node, the table of the diverging layers, and the parameters that
// are not the same; ends with a newline.
std::string localize_table(const LocalizeReport& report, const LocalizePresentation& how);

// {"source", "target", "samples", "first", "layers": [...], "parameters": [...], ...} on one line, everything in it;
// infinities are the text "inf".
std::string localize_json(const LocalizeReport& report, const LocalizePresentation& how);

}  // namespace dnn
