// Rows of text: a table for people, comma-separated values for programs.
#pragma once
#include <string>
#include <vector>

namespace dnn::words {

using Row = std::vector<std::string>;

// Rows under their titles, each column aligned to the left or the right.
std::string table(const std::vector<Row>& rows, const std::vector<bool>& left);

// By RFC 4180's quoting, on one line. A name that a spreadsheet would compute as a formula has an apostrophe before it; numbers have none.
std::string csv_field(const std::string& field);
// Such fields; the line ends in LF.
std::string csv_line(const Row& fields);

}  // namespace dnn::words
