// Tables of text; see table.h.
#include "metrics/table.h"

#include <algorithm>

#include "base/printable.h"
#include "base/text.h"

namespace dnn::metrics {
namespace {

constexpr size_t kWidth = 100;

std::string padded(const std::string& text, size_t width, bool left) {
  const std::string space(width - std::min(width, text.size()), ' ');
  return left ? text + space : space + text;
}

}  // namespace

size_t Column::width() const {
  size_t width = title.size();
  for (const std::string& cell : cells) width = std::max(width, cell.size());
  return width;
}

bool Column::empty() const {
  return std::all_of(cells.begin(), cells.end(), [](const std::string& cell) { return cell.empty(); });
}

std::string layout(std::vector<Column> columns) {
  for (Column& column : columns) std::transform(column.cells.begin(), column.cells.end(), column.cells.begin(), clean);
  std::string out;
  size_t next = 1;
  while (next < columns.size()) {
    std::vector<const Column*> row = {&columns[0]};
    size_t width = columns[0].width();
    while (next < columns.size() && (row.size() == 1 || width + 2 + columns[next].width() <= kWidth)) {
      width += 2 + columns[next].width();
      row.push_back(&columns[next++]);
    }
    if (!out.empty()) out += "\n";
    for (size_t line = 0; line <= columns[0].cells.size(); ++line) {
      std::string text;
      for (const Column* column : row) {
        if (column != row[0]) text += "  ";
        text += padded(line == 0 ? column->title : column->cells[line - 1], column->width(), column->left);
      }
      text.erase(text.find_last_not_of(' ') + 1);
      out += text + "\n";
    }
  }
  return out;
}

std::string value_text(const Row& row, double value) { return number_text(value, row.format); }

std::string value_text(const Row& row, const Values& values) {
  const auto it = values.find(row.key);
  return it == values.end() ? "" : value_text(row, it->second);
}

std::string utf8(const std::string& text) {
  if (is_utf8(text)) return text;
  std::string out;
  for (const char c : text) {
    static constexpr char kDigits[] = "0123456789abcdef";
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x80) {
      out += c;
    } else {
      out += {'\\', 'x', kDigits[u >> 4], kDigits[u & 15]};
    }
  }
  return out;
}

}  // namespace dnn::metrics
