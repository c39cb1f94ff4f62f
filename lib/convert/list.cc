// Tables of formats and operators; see list.h.
#include "convert/list.h"

#include "convert/architectures/architecture.h"
#include "formats/format.h"
#include "ops/op.h"

namespace dnn {

std::string list_formats() {
  std::string text;
  for (const Format& format : formats()) {
    text += cat(format.name, "\t", format.extensions, "\t", format.read != nullptr ? "read" : "-", "\t",
                format.to_files != nullptr ? "write" : "-", "\t", format.trust, "\n");
  }
  return text;
}

std::string list_ops() {
  std::string text;
  for (const OpDef& op : all_ops()) {
    const std::string domain = op.domain;
    if (op.reference != nullptr && domain != kInternalDomain)
      text += cat(domain.empty() ? "" : domain + ".", op.name, "\n");
  }
  return text;
}

std::string list_architectures() {
  std::string text;
  for (const Architecture& row : architectures()) text += cat(row.name, "\t", row.image_size, "\t", row.help, "\n");
  return text;
}

}  // namespace dnn
