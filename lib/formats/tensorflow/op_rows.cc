// The table of operators; see ops.def.
#include <map>

#include "formats/tensorflow/imports.h"

namespace dnn::tensorflow {

const OpRow* find_row(const std::string& name) {
  static const OpRow rows[] = {
#define DNN_TENSORFLOW_OP(name, outputs, function, as) {#name, outputs, function, as},
#include "formats/tensorflow/ops.def"
  };
  static const std::map<std::string, const OpRow*> by_name = [] {
    std::map<std::string, const OpRow*> result;
    for (const OpRow& row : rows) result[row.name] = &row;
    return result;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

bool is_refused(const OpRow& row) { return row.import == refused; }

void refused(Op& op) { op.refuse(op.row().as); }

}  // namespace dnn::tensorflow
