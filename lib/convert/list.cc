// Tables of formats and operators; see list.h.
#include "convert/list.h"

#include <map>
#include <set>

#include "convert/architectures/architecture.h"
#include "formats/format.h"
#include "formats/operators.h"
#include "graph/text.h"
#include "ops/op.h"

namespace dnn {
namespace {

using Support = std::map<std::string, FormatOperator>;  // by name

struct Column {
  std::string format;
  Support ours, own;
};

// A name may have several rows: one that reads, one that writes.
void add(Support& support, const FormatOperator& row) {
  FormatOperator& sum = support[row.name];
  sum.reads = sum.reads || row.reads;
  sum.writes = sum.writes || row.writes;
}

std::vector<Column> columns() {
  std::vector<Column> result;
  for (const Format& format : formats()) {
    const std::vector<FormatOperator> rows = format_operators(format);
    if (rows.empty()) continue;
    result.push_back({format.name, {}, {}});
    for (const FormatOperator& row : rows) add(row.ours ? result.back().ours : result.back().own, row);
  }
  return result;
}

std::string cell(const Support& support, const std::string& name) {
  const auto found = support.find(name);
  if (found == support.end()) return "-";
  return cat(found->second.reads ? "r" : "", found->second.writes ? "w" : "");
}

}  // namespace

std::string list_formats() {
  std::string text;
  for (const Format& format : formats()) {
    text += cat(format.name, "\t", format.extensions, "\t", format.read != nullptr ? "read" : "-", "\t",
                format.to_files != nullptr ? "write" : "-", "\t", format.trust, "\n");
  }
  return text;
}

std::string list_attributes() {
  std::string text = "operator\tattribute\ttype\tdefault\ttext\n";
  for (const OpDef& op : all_ops()) {
    for (const AttributeDef& row : op.attributes) {
      const std::string fallback = row.required   ? "required"
                                   : row.fallback ? attribute_text(*row.fallback)
                                   : row.per_axis ? cat(*row.per_axis)
                                                  : "-";
      text += cat(op.name, "\t", row.name, "\t", attribute_type_name(row.type), "\t", fallback, "\t", row.text, "\n");
    }
  }
  return text;
}

std::string list_ops() {
  const std::vector<Column> formats = columns();
  std::string text = "operator\tinfer\treference\tlower";
  for (const Column& column : formats) text += "\t" + column.format;
  text += "\n";
  const auto has = [](bool there) { return there ? "yes" : "-"; };
  for (const OpDef& op : all_ops()) {
    if (op.domain == kInternalDomain) continue;
    text += cat(op.domain.empty() ? "" : op.domain + ".", op.name, "\t", has(op.infer != nullptr), "\t",
                has(op.reference != nullptr), "\t", has(op.lower != nullptr || op.element != nullptr));
    for (const Column& column : formats) text += "\t" + (op.domain.empty() ? cell(column.ours, op.name) : "-");
    text += "\n";
  }
  for (const Column& owner : formats) {
    for (const auto& [name, row] : owner.own) {
      text += cat(owner.format, ":", name, "\t-\t-\t-");
      for (const Column& column : formats) text += "\t" + (column.format == owner.format ? cell(owner.own, name) : "-");
      text += "\n";
    }
  }
  return text;
}

std::string list_architectures() {
  std::string text;
  for (const NetArchitecture& row : net_architectures())
    text += cat(row.name, "\t", row.image_size, "\t", row.help, "\n");
  return text;
}

}  // namespace dnn
