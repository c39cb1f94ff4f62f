// The HTML printer; see document.h.
#include <cctype>

#include "base/base64.h"
#include "base/sha256.h"
#include "base/text.h"
#include "report/document.h"
#include "report/escape.h"
#include "report/page_script.h"
#include "report/palette.h"

namespace dnn::report {
namespace {

constexpr std::string_view kStyle = R"(
*{box-sizing:border-box}
html{color-scheme:light dark;-webkit-text-size-adjust:100%}
body{margin:0;background:$page;color:$ink;font:16px/1.5 system-ui,"Segoe UI",Roboto,"DejaVu Sans",Arial,sans-serif;overflow-wrap:anywhere}
header,nav,main,footer{max-width:72rem;margin:0 auto;padding:0 1rem}
h1{font-size:1.7rem;line-height:1.2;margin:1.5rem 0 .5rem}
h2{font-size:1.35rem;margin:2.5rem 0 .5rem;border-bottom:1px solid $rule;padding-bottom:.2rem}
h3{font-size:1.1rem;margin:1.8rem 0 .4rem}
p,ul,ol{margin:.5rem 0}
a{color:$link}
a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:3px solid $s1;outline-offset:2px}
.skip{position:absolute;left:-100rem}
.skip:focus{position:static}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;padding:0}
.warning{color:$warn}
.scroll{overflow:auto;max-width:100%;margin:.8rem 0}
.tall{max-height:75vh;border:1px solid $rule}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}
caption{text-align:left;color:$quiet;padding:.2rem 0}
th,td{padding:.2rem .6rem;border-bottom:1px solid $rule;text-align:left;vertical-align:top;overflow-wrap:normal}
th{background:$panel;font-weight:600}
thead th{position:sticky;top:0;vertical-align:bottom}
tbody th>span{display:inline-block;width:max-content;max-width:min(22rem,42vw);overflow-wrap:anywhere}
td{white-space:nowrap}
.n{text-align:right}
td.w{white-space:normal;min-width:18rem;overflow-wrap:anywhere}
figure{margin:1rem 0}
figcaption{color:$quiet;font-size:.875rem}
svg{display:block;height:auto;max-width:max(100%,30rem)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:0 1.5rem}
.figures figure{min-width:0}
.sort{font:inherit;color:inherit;background:none;border:0;padding:0;text-align:inherit;cursor:pointer}
.sort:hover{text-decoration:underline}
th[aria-sort=ascending] .sort::after{content:" \2191"}
th[aria-sort=descending] .sort::after{content:" \2193"}
.filter{display:inline-block;margin:.4rem 1rem 0 0;font-size:.875rem}
.filter select{max-width:100%}
.side td{white-space:normal}
.side thead th{overflow-wrap:anywhere}
@media (max-width:40rem){.side th,.side td{padding:.2rem .3rem}}
.boxes{columns:18rem;font-size:.875rem}
.boxes label{display:block}
button:focus-visible,input:focus-visible,select:focus-visible{outline:3px solid $s1;outline-offset:2px}
.quiet{color:$quiet}
.option{white-space:nowrap}
details{border:1px solid $rule;border-radius:.3rem;padding:.3rem .7rem;margin:.5rem 0}
summary{cursor:pointer}
.picture{display:block;margin:.5rem 0;image-rendering:auto}
.cards{display:flex;flex-wrap:wrap;gap:.7rem;margin:.5rem 0}
.cards>div{background:$panel;border-radius:.3rem;padding:.4rem .7rem;font-size:.875rem;flex:1 1 14rem;max-width:22rem;min-width:0}
.cards ol{margin:.2rem 0;padding-left:1.5rem}
.cards p{margin:.1rem 0}
footer{color:$quiet;font-size:.875rem;margin-top:3rem;padding-bottom:2rem}
@media print{.scroll{overflow:visible;max-height:none}body{font-size:11px}}
)";

constexpr size_t kLongCell = 48;   // characters from which a cell is broken into lines
constexpr size_t kLongTable = 25;  // rows from which a table scrolls in itself

std::string variables(bool dark) {
  std::string out;
  for (const Colour& colour : colours()) out += cat("--", colour.name, ":", dark ? colour.dark : colour.light, ";");
  return out;
}

std::string style() {
  std::string out =
      cat(":root{", variables(false), "}@media (prefers-color-scheme:dark){:root{", variables(true), "}}",
          "@media print{:root{", variables(false), "}}", with_variables(kStyle), with_variables(svg_style()));
  for (int i = 0; i < kSteps; ++i) {
    const Step& step = steps()[i];
    out += cat("td.k", i, "{background:", step.fill, ";color:", step.text, "}td.k", i, " a{color:", step.text, "}");
  }
  return out;
}

// As a policy names a script.
std::string digest(std::string_view script) {
  const std::string digits = sha256_hex(as_bytes(script));
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return base64_encode(as_bytes(bytes));
}

// Escaped text, in which no line ends between the hyphen of an option ("-O0") and its letters.
std::string with_whole_options(const std::string& text) {
  const auto is_word = [&](size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (text[i] == '-' && (i == 0 || text[i - 1] == ' ') && is_word(i + 1)) {
      while (is_word(end)) ++end;
      out += cat("<span class=\"option\">", text.substr(i, end - i), "</span>");
    } else {
      out += text[i];
    }
    i = end;
  }
  return out;
}

class Printer {
 public:
  std::string print(const Document& document) {
    out_ = cat("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
               "'unsafe-inline'; script-src 'sha256-",
               digest(page_script()), "'; base-uri 'none'; form-action 'none'\">\n",
               "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"",
               html_text(document.made_by), "\">\n<title>", html_text(document.title), "</title>\n<style>", style(),
               "</style>\n</head>\n<body>\n<header>\n<a class=\"skip\" href=\"#main\">To the content</a>\n<h1>",
               html_text(document.title), "</h1>\n</header>\n<nav aria-label=\"Contents\">\n<ul>\n");
    for (const Section& section : document.sections)
      out_ += cat("<li><a href=\"#", section.id, "\">", html_text(section.title), "</a></li>\n");
    out_ += "</ul>\n</nav>\n<main id=\"main\">\n";
    for (const Section& s : document.sections) section(s, 2);
    out_ += cat("</main>\n<footer>\n<p>Made by ", html_text(document.made_by), ".</p>\n</footer>\n<script>",
                page_script(), "</script>\n</body>\n</html>\n");
    return std::move(out_);
  }

 private:
  static std::string line(const Line& line) {
    std::string out;
    for (const Span& span : line.spans) {
      std::string text = with_whole_options(html_text(span.text));
      if (span.strong) text = cat("<strong>", text, "</strong>");
      out += span.target.empty() ? text : cat("<a href=\"#", span.target, "\">", text, "</a>");
    }
    return out;
  }

  void section(const Section& s, int level) {
    out_ += cat("<section aria-labelledby=\"", s.id, "\">\n<h", level, " id=\"", s.id, "\">", html_text(s.title), "</h",
                level, ">\n");
    blocks(s.blocks);
    for (const Section& inner : s.sections) section(inner, level + 1);
    out_ += "</section>\n";
  }

  void blocks(const std::vector<Block>& list) {
    for (const Block& block : list) std::visit([&](const auto& b) { print_block(b); }, block.is);
  }

  void print_block(const Paragraph& p) {
    out_ += cat(p.warning ? "<p class=\"warning\">" : "<p>", line(p.line), "</p>\n");
  }

  void print_block(const Points& points) {
    out_ += "<ul>\n";
    for (const Line& item : points.items) out_ += cat("<li>", line(item), "</li>\n");
    out_ += "</ul>\n";
  }

  void print_block(const Table& table) {
    const std::string caption = table.id + "-caption";
    out_ += cat("<div class=\"scroll", table.rows.size() > kLongTable ? " tall" : "",
                "\" role=\"group\" tabindex=\"0\" ", "aria-labelledby=\"", caption, "\">\n<table id=\"", table.id,
                "\">\n<caption id=\"", caption, "\">", html_text(table.caption), "</caption>\n<thead>\n<tr>");
    for (const Column& column : table.columns) {
      out_ += cat("<th scope=\"col\"", column.number ? " class=\"n\"" : "",
                  column.hint.empty() ? "" : cat(" title=\"", html_text(column.hint), "\""), ">",
                  html_text(column.title), "</th>");
    }
    out_ += "</tr>\n</thead>\n<tbody>\n";
    for (const std::vector<Cell>& row : table.rows) {
      out_ += "<tr>";
      for (size_t i = 0; i < row.size(); ++i) {
        const bool number = i < table.columns.size() && table.columns[i].number;
        std::string classes = number ? "n" : i > 0 && row[i].line.plain().size() > kLongCell ? "w" : "";
        if (row[i].step >= 0) classes += cat(classes.empty() ? "k" : " k", row[i].step);
        const std::string attribute = classes.empty() ? "" : cat(" class=\"", classes, "\"");
        if (i == 0) {
          out_ += cat("<th scope=\"row\"", attribute, "><span>", line(row[i].line), "</span></th>");
        } else {
          out_ += cat("<td", attribute, ">", line(row[i].line), "</td>");
        }
      }
      out_ += "</tr>\n";
    }
    out_ += "</tbody>\n</table>\n</div>\n";
  }

  void print_block(const Figure& figure) {
    out_ += cat("<figure id=\"", figure.id, "\">\n<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"",
                html_text(figure.title), "\">", inline_svg(figure.drawing, figure.id, figure.title, figure.text),
                "</div>\n<figcaption>", with_whole_options(html_text(cat(figure.title, ". ", figure.text))),
                "</figcaption>\n</figure>\n");
  }

  void print_block(const Figures& figures) {
    out_ += "<div class=\"figures\">\n";
    for (const Figure& figure : figures.list) print_block(figure);
    out_ += "</div>\n";
  }

  void print_block(const Picture& picture) {
    out_ += cat("<img class=\"picture\" alt=\"", html_text(picture.text), "\" width=\"", picture.width, "\" height=\"",
                picture.height, "\" src=\"data:image/png;base64,", base64_encode(as_bytes(picture.png)), "\">\n");
  }

  void print_block(const Cards& cards) {
    out_ += "<div class=\"cards\">\n";
    for (const Cards::Card& card : cards.cards) {
      out_ += cat("<div><p>", line(card.heading), "</p><ol>");
      for (const std::string& item : card.items) out_ += cat("<li>", html_text(item), "</li>");
      out_ += cat("</ol><p>", line(card.foot), "</p></div>\n");
    }
    out_ += "</div>\n";
  }

  void print_block(const Fold& fold) {
    out_ += cat("<details", fold.id.empty() ? "" : cat(" id=\"", fold.id, "\""), ">\n<summary>", line(fold.summary),
                "</summary>\n");
    blocks(fold.blocks);
    out_ += "</details>\n";
  }

  std::string out_;
};

}  // namespace

std::string html(const Document& document) { return Printer().print(document); }

}  // namespace dnn::report
