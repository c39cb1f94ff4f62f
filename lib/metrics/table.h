// Tables of text: columns side by side, wrapped at a terminal's width.
#pragma once
#include <string>
#include <vector>

#include "metrics/metric.h"

namespace dnn::metrics {

struct Column {
  std::string title;
  bool left = false;  // alignment
  std::vector<std::string> cells;

  size_t width() const;
  bool empty() const;  // no cell says anything
};

// Columns side by side, of one height; those that do not fit go into further tables, each beginning with the first column.
// Cells become clean() text (base/printable.h).
std::string layout(std::vector<Column> columns);

// The value as its row prints it, "" where it is not stated.
std::string value_text(const Row& row, const Values& values);
std::string value_text(const Row& row, double value);

// The text, or where it is no UTF-8 its bytes beyond ASCII as \xNN.
std::string utf8(const std::string& text);

// The columns of all metrics of a scope that some item has a value for; absent values show as "-".
template <class Item>
void add_metrics(Scope scope, const std::vector<Item>& items, std::vector<Column>* columns) {
  for (const Row& row : rows()) {
    if (row.scope != scope || row.title.empty()) continue;
    Column column{std::string(row.title), false, {}};
    for (const Item& item : items) column.cells.push_back(value_text(row, item.values));
    if (column.empty()) continue;
    for (std::string& cell : column.cells) cell = cell.empty() ? "-" : cell;
    columns->push_back(std::move(column));
  }
}

}  // namespace dnn::metrics
