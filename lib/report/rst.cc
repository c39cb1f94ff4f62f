// The reStructuredText printer; see document.h.
#include <algorithm>

#include "base/error.h"
#include "report/document.h"
#include "report/escape.h"

namespace dnn::report {
namespace {

class RstPrinter {
 public:
  RstPrinter(const std::string& images, const std::string& prefix) : images_(images), prefix_(prefix) {}

  Tree print(const Document& document) {
    heading(document.title, '=', true);
    for (const Section& s : document.sections) section(s, 0);
    tree_.text += cat("Made by ", rst_text(document.made_by), ".\n");
    return std::move(tree_);
  }

 private:
  std::string name(const std::string& id) const { return cat(prefix_, "-", id); }

  // Marked text needs blanks or nothing around it; "\ " is nothing to see.
  std::string line(const Line& line) const {
    std::string out;
    for (const Span& span : line.spans) {
      if (span.text.empty()) continue;
      const bool plain = span.target.empty() && !span.strong;
      if (plain && &span != &line.spans[0]) {
        const Peeled parts = peeled(span.text);
        out += cat(parts.before, parts.text.empty() ? "" : rst_text(parts.text), parts.after);
        continue;
      }
      const std::string text = rst_text(span.text);
      if (!span.target.empty()) {
        out += cat(out.empty() ? "" : "\\ ", "`", text, " <", name(span.target), "_>`__\\ ");
      } else if (span.strong) {
        out += cat(out.empty() ? "" : "\\ ", "**", text, "**\\ ");
      } else {
        out += text;
      }
    }
    return out;
  }

  void heading(const std::string& title, char mark, bool above) {
    const std::string text = rst_text(title);
    size_t width = 0;
    for (const char c : text) width += static_cast<unsigned char>(c) < 0x80 ? 1 : 2;  // at least what it takes
    const std::string rule(std::max<size_t>(width, 4), mark);
    tree_.text += cat(above ? rule + "\n" : "", text, "\n", rule, "\n\n");
  }

  void section(const Section& s, size_t level) {
    constexpr char kMarks[] = {'-', '~', '^'};
    target(s.id);
    heading(s.title, kMarks[std::min<size_t>(level, 2)], false);
    blocks(s.blocks);
    for (const Section& inner : s.sections) section(inner, level + 1);
  }

  void target(const std::string& id) { tree_.text += cat(".. _", name(id), ":\n\n"); }

  void blocks(const std::vector<Block>& list) {
    for (const Block& block : list) std::visit([&](const auto& b) { print_block(b); }, block.is);
  }

  void print_block(const Paragraph& p) {
    tree_.text += p.warning ? cat(".. note::\n\n   ", line(p.line), "\n\n") : cat(line(p.line), "\n\n");
  }

  void print_block(const Points& points) {
    for (const Line& item : points.items) tree_.text += cat("- ", line(item), "\n");
    tree_.text += "\n";
  }

  void print_block(const Table& table) {
    if (table.rows.empty()) return;
    tree_.text += cat(".. list-table:: ", rst_text(table.caption), "\n   :header-rows: 1\n   :stub-columns: 1\n\n");
    for (size_t i = 0; i < table.columns.size(); ++i) cell(i == 0, rst_text(table.columns[i].title));
    for (const std::vector<Cell>& row : table.rows) {
      for (size_t i = 0; i < row.size(); ++i) cell(i == 0, line(row[i].line));
    }
    tree_.text += "\n";
  }

  void cell(bool first, const std::string& text) {
    tree_.text += cat(first ? "   * -" : "     -", text.empty() ? "" : " ", text, "\n");
  }

  void print_block(const Figure& figure) {
    const std::string file = cat(prefix_, "_", figure.id, ".svg");
    tree_.files.push_back({file, standalone_svg(figure.drawing, figure.title, figure.text)});
    tree_.text += cat(".. figure:: ", images_, file, "\n   :alt: ", rst_text(figure.title), "\n\n   ",
                      rst_text(figure.title), ". ", rst_text(figure.text), "\n\n");
  }

  void print_block(const Figures& figures) {
    for (const Figure& figure : figures.list) print_block(figure);
  }

  void print_block(const Picture& picture) {
    const std::string file = cat(prefix_, "_picture-", ++n_pictures_, ".png");
    tree_.files.push_back({file, picture.png});
    tree_.text += cat(".. image:: ", images_, file, "\n   :alt: ", rst_text(picture.text),
                      "\n   :width: ", picture.width, "px\n\n");
  }

  void print_block(const Cards& cards) {
    for (const Cards::Card& card : cards.cards) {
      tree_.text += cat("- ", line(card.heading), "\n\n");
      for (const std::string& item : card.items) tree_.text += cat("  #. ", rst_text(item), "\n");
      tree_.text += cat("\n  ", line(card.foot), "\n\n");
    }
  }

  void print_block(const Fold& fold) {
    if (!fold.id.empty()) target(fold.id);
    tree_.text += cat(".. rubric:: ", line(fold.summary), "\n\n");
    blocks(fold.blocks);
  }

  std::string images_, prefix_;
  Tree tree_;
  size_t n_pictures_ = 0;
};

}  // namespace

Tree rst(const Document& document, const std::string& images, const std::string& prefix) {
  if (images.find_first_of(" \t\n") != std::string::npos)
    fail_usage(quoted(images), ": reStructuredText cannot name a folder with blanks: choose another --img-dir");
  return RstPrinter(images, prefix).print(document);
}

}  // namespace dnn::report
