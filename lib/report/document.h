// Document: what a report says, before it is HTML, reStructuredText or Markdown. Texts are as the streams have them; printers escape.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "report/svg.h"

namespace dnn::report {

// A stretch of text; `target` is the id of what it leads to within the document, "" for none.
struct Span {
  std::string text, target = {};
  bool strong = false;
};

struct Line {
  std::vector<Span> spans;
  Line() = default;
  Line(std::string text) {
    spans.push_back({std::move(text)});
  }                                                    // NOLINT: implicit on purpose, a line is mostly its text
  Line(const char* text) : Line(std::string(text)) {}  // NOLINT
  Line& add(std::string text, std::string target = {}, bool strong = false) {
    spans.push_back({std::move(text), std::move(target), strong});
    return *this;
  }
  std::string plain() const {
    std::string out;
    for (const Span& span : spans) out += span.text;
    return out;
  }
};

struct Cell {
  Line line;
  int step = -1;  // of the palette's scale, as its background; -1 for none
  Cell() = default;
  Cell(Line line, int step = -1) : line(std::move(line)), step(step) {}  // NOLINT: implicit on purpose
  Cell(std::string text) : line(std::move(text)) {}                      // NOLINT
  Cell(const char* text) : line(text) {}                                 // NOLINT
};

struct Column {
  std::string title;
  bool number = false;  // aligned to the right
  std::string hint = {};
};

// Each row's first cell heads the row.
struct Table {
  std::string id, caption;  // an id is unique within the document, and safe everywhere: letters, digits, '-'
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

struct Figure {
  std::string id, title;
  std::string text;  // what is to be seen: below the figure, and read out in its stead
  Drawing drawing;
};

// Side by side where there is room.
struct Figures {
  std::vector<Figure> list;
};

struct Paragraph {
  Line line;
  bool warning = false;  // about what is missing or left out
};

struct Points {
  std::vector<Line> items;
};

// A thumbnail, as the bytes of a PNG file.
struct Picture {
  std::string png, text;
  int width = 0, height = 0;
};

// Short lists side by side.
struct Cards {
  struct Card {
    Line heading;
    std::vector<std::string> items;
    Line foot;
  };
  std::vector<Card> cards;
};

struct Block;

// Blocks that a reader opens when they are wanted.
struct Fold {
  std::string id;  // or ""
  Line summary;
  std::vector<Block> blocks;
};

struct Block {
  std::variant<Paragraph, Points, Table, Figure, Figures, Picture, Cards, Fold> is;
  template <class T>
  Block(T block) : is(std::move(block)) {}  // NOLINT: implicit on purpose
};

struct Section {
  std::string id, title;
  std::vector<Block> blocks;
  std::vector<Section> sections;
};

struct Document {
  std::string title;
  std::string made_by;  // "dnn-report 0.1.0"
  std::vector<Section> sections;
};

// One page that needs nothing else, and no network. Its one script only adds comfort.
std::string html(const Document& document);

// A text for a documentation tree, and the figures and thumbnails that it shows as files.
struct Tree {
  std::string text;
  struct File {
    std::string name, content;
  };
  std::vector<File> files;
};
// `images` is where the files will lie as seen from the text, "" or ending in '/'; their names start with `prefix`.
Tree rst(const Document& document, const std::string& images, const std::string& prefix);
Tree markdown(const Document& document, const std::string& images, const std::string& prefix);

}  // namespace dnn::report
