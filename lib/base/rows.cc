// Tables of text; see rows.h.
#include "base/rows.h"

#include <algorithm>

#include "base/printable.h"
#include "base/text.h"

namespace dnn::words {
std::string csv_field(const std::string& field) {
  double number = 0;
  const bool formula = !field.empty() && std::string_view("=+-@\t\r").find(field[0]) != std::string_view::npos &&
                       !parse_double(field, &number) && field != "-inf" && field != "-nan";
  std::string text = (formula ? "'" : "") + clean(field);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string table(const std::vector<Row>& given, const std::vector<bool>& left) {
  std::vector<Row> rows = given;
  for (Row& row : rows) std::transform(row.begin(), row.end(), row.begin(), clean);
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      line += (i == 0 ? "" : "  ") + (left[i] ? row[i] + space : space + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string csv_line(const Row& fields) {
  Row quoted;
  for (const std::string& field : fields) quoted.push_back(csv_field(field));
  return join(quoted, ",") + "\n";
}

}  // namespace dnn::words
