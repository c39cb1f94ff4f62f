// --help: usage, paragraph, options in two groups, exit codes, examples; scripts/from_help.py reads its shape.
#include "base/text.h"
#include "cli/cli.h"

namespace dnn::cli {
namespace {

constexpr size_t kWidth = 96;
constexpr size_t kHelpColumn = 28;

// `text` wrapped to kWidth; the first line starts at column `at`, the others are indented to `indent`.
std::string wrapped(const std::string& text, size_t indent, size_t at) {
  std::string out;
  for (const std::string& word : split(text, ' ')) {
    if (at > indent && at + 1 + word.size() > kWidth) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (at > indent) {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
  }
  return out;
}

std::string option_text(const Args::Row& row) {
  std::string out = row.names[1] == '-' ? "      " : "  ";
  out += join(split(row.names, ','));
  if (row.kind == Args::Row::Kind::OptionalValue) {
    out += "[=" + row.placeholder + "]";
  } else if (!row.placeholder.empty()) {
    out += " " + row.placeholder;
  }
  return out;
}

std::string row_text(std::string left, const std::string& help) {
  if (left.size() + 2 > kHelpColumn) {
    left += "\n" + std::string(kHelpColumn, ' ');
  } else {
    left.resize(kHelpColumn, ' ');
  }
  return left + wrapped(help, kHelpColumn, kHelpColumn) + "\n";
}

}  // namespace

std::string Args::help(const Tool& tool) const {
  std::string out = "usage: " + tool.name + " [OPTION]...";
  for (const Positional& p : positionals_) {
    const std::string dots = p.maximum > 1 ? "..." : "";
    out += p.minimum == 0 ? " [" + p.name + "]" + dots : " " + p.name + dots;
  }
  out += "\n\n" + wrapped(tool.summary, 0, 0) + "\n";
  if (!positionals_.empty()) {
    out += "\nArguments:\n";
    for (const Positional& p : positionals_) out += row_text("  " + p.name, p.help);
  }
  std::string own, shared;
  for (const Row& row : rows_) {
    if (row.help.empty()) continue;  // an option of earlier versions, which another stands for now
    (row.shared ? shared : own) += row_text(option_text(row), row.help);
  }
  if (!own.empty()) out += "\nOptions:\n" + own;
  shared += row_text("  -h, --help, --version", "print this text, or version, commit and features");
  out += "\nShared options:\n" + shared;
  const std::string negative = tool.negative.empty() ? "" : "1 " + tool.negative + ", ";
  out += wrapped(cat("Exit codes: 0 done, ", negative,
                     "2 usage, 3 damaged, 4 unsupported, 5 environment, 70 a bug, 141 reader gone"),
                 2, 0) +
         "\n";
  if (!tool.examples.empty()) out += "\nExamples:\n";
  for (const Tool::Example& example : tool.examples) {
    out += "  " + example.command + "\n";
    if (!example.text.empty()) out += "      " + wrapped(example.text, 6, 6) + "\n";
  }
  return out;
}

}  // namespace dnn::cli
