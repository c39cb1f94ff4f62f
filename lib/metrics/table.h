// Tables of text: columns side by side, wrapped at a terminal's width.
#pragma once
#include <algorithm>
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

// A correction that changes no item's p-value says nothing more.
template <class Item>
bool repeats_its_test(const Row& row, const std::vector<Item>& items) {
  if (!row.key.ends_with(kHolm)) return false;
  const std::string_view test = row.key.substr(0, row.key.size() - kHolm.size());
  return std::all_of(items.begin(), items.end(), [&](const Item& item) {
    const auto plain = item.values.find(test), corrected = item.values.find(row.key);
    return corrected == item.values.end() || (plain != item.values.end() && plain->second == corrected->second);
  });
}

// The columns of all metrics of a scope that some item has a value for; absent values show as "-".
template <class Item>
void add_metrics(Scope scope, const std::vector<Item>& items, std::vector<Column>* columns) {
  for (const Row& row : rows()) {
    if (row.scope != scope || row.title.empty()) continue;
    Column column{std::string(row.title), false, {}};
    for (const Item& item : items) column.cells.push_back(value_text(row, item.values));
    if (column.empty() || repeats_its_test(row, items)) continue;
    for (std::string& cell : column.cells) cell = cell.empty() ? "-" : cell;
    columns->push_back(std::move(column));
  }
}

}  // namespace dnn::metrics
