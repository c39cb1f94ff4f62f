// The Markdown printer, in GitHub's form; see document.h.
#include <cctype>
#include <cstdio>

#include "base/text.h"
#include "report/document.h"
#include "report/escape.h"

namespace dnn::report {
namespace {

// A path as a link's destination.
std::string url_text(const std::string& path) {
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("-._~/").find(c) != std::string_view::npos) {
      out += c;
    } else {
      char escape[4];
      std::snprintf(escape, sizeof escape, "%%%02X", byte);
      out += escape;
    }
  }
  return out;
}

class MarkdownPrinter {
 public:
  MarkdownPrinter(const std::string& images, const std::string& prefix) : images_(images), prefix_(prefix) {}

  Tree print(const Document& document) {
    tree_.text += cat("# ", markdown_text(document.title), "\n\n");
    for (const Section& s : document.sections) section(s, 2);
    tree_.text += cat("Made by ", markdown_text(document.made_by), ".\n");
    return std::move(tree_);
  }

 private:
  static std::string line(const Line& line) {
    std::string out;
    for (const Span& span : line.spans) {
      if (span.text.empty()) continue;
      const bool plain = span.target.empty() && !span.strong;
      if (plain && &span != &line.spans[0]) {
        const Peeled parts = peeled(span.text);
        out += cat(parts.before, parts.text.empty() ? "" : markdown_text(parts.text), parts.after);
        continue;
      }
      std::string text = markdown_text(span.text);
      if (span.strong) text = cat("**", text, "**");
      out += span.target.empty() ? text : cat("[", text, "](#", span.target, ")");
    }
    return out;
  }

  void section(const Section& s, size_t level) {
    tree_.text += cat("<a id=\"", s.id, "\"></a>\n\n", std::string(level, '#'), " ", markdown_text(s.title), "\n\n");
    blocks(s.blocks);
    for (const Section& inner : s.sections) section(inner, level + 1);
  }

  void blocks(const std::vector<Block>& list) {
    for (const Block& block : list) std::visit([&](const auto& b) { print_block(b); }, block.is);
  }

  void print_block(const Paragraph& p) { tree_.text += cat(p.warning ? "> " : "", line(p.line), "\n\n"); }

  void print_block(const Points& points) {
    for (const Line& item : points.items) tree_.text += cat("- ", line(item), "\n");
    tree_.text += "\n";
  }

  void print_block(const Table& table) {
    if (table.rows.empty()) return;
    tree_.text += cat(markdown_text(table.caption), ":\n\n|");
    for (const Column& column : table.columns) tree_.text += cat(" ", markdown_text(column.title), " |");
    tree_.text += "\n|";
    for (const Column& column : table.columns) tree_.text += column.number ? " ---: |" : " --- |";
    tree_.text += "\n";
    for (const std::vector<Cell>& row : table.rows) {
      tree_.text += "|";
      for (const Cell& cell : row) tree_.text += cat(" ", line(cell.line), " |");
      tree_.text += "\n";
    }
    tree_.text += "\n";
  }

  void print_block(const Figure& figure) {
    const std::string file = cat(prefix_, "_", figure.id, ".svg");
    tree_.files.push_back({file, standalone_svg(figure.drawing, figure.title, figure.text)});
    tree_.text += cat("![", markdown_text(figure.title), "](", url_text(images_ + file), ")\n\n",
                      markdown_text(figure.title), ". ", markdown_text(figure.text), "\n\n");
  }

  void print_block(const Figures& figures) {
    for (const Figure& figure : figures.list) print_block(figure);
  }

  void print_block(const Picture& picture) {
    const std::string file = cat(prefix_, "_picture-", ++n_pictures_, ".png");
    tree_.files.push_back({file, picture.png});
    tree_.text += cat("![", markdown_text(picture.text), "](", url_text(images_ + file), ")\n\n");
  }

  void print_block(const Cards& cards) {
    for (const Cards::Card& card : cards.cards) {
      tree_.text += cat("- ", line(card.heading), "\n\n");
      size_t n = 0;
      for (const std::string& item : card.items) tree_.text += cat("  ", ++n, ". ", markdown_text(item), "\n");
      tree_.text += cat("\n  ", line(card.foot), "\n\n");
    }
  }

  void print_block(const Fold& fold) {
    if (!fold.id.empty()) tree_.text += cat("<a id=\"", fold.id, "\"></a>\n\n");
    const std::string summary = line(fold.summary);
    tree_.text += cat(
        fold.summary.spans.size() == 1 && !fold.summary.spans[0].strong ? cat("**", summary, "**") : summary, "\n\n");
    blocks(fold.blocks);
  }

  std::string images_, prefix_;
  Tree tree_;
  size_t n_pictures_ = 0;
};

}  // namespace

Tree markdown(const Document& document, const std::string& images, const std::string& prefix) {
  return MarkdownPrinter(images, prefix).print(document);
}

}  // namespace dnn::report
