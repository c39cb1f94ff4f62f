// Rows of text: a table for people, comma-separated values for programs.
#pragma once
#include <string>
#include <vector>

namespace dnn::words {

using Row = std::vector<std::string>;

// Rows under their titles, each column aligned to the left or the right.
std::string table(const std::vector<Row>& rows, const std::vector<bool>& left);

// RFC 4180's quoting; the line ends in LF.
std::string csv_line(const Row& fields);

}  // namespace dnn::words
