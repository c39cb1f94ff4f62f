// Writing and reading alignments; see alignment_text.h.
#include "localize/alignment_text.h"

#include <set>

#include "base/text.h"

namespace dnn {
namespace {

// A name that a line cannot hold is left out by a comment.
bool fits_a_line(const std::string& name) {
  return !name.empty() && name != "-" && name[0] != '#' && name.find_first_of("\t\n\r") == std::string::npos;
}

std::string line(const std::string& source, const std::string& target, const std::string& by) {
  const bool fits = (source == "-" || fits_a_line(source)) && (target == "-" || fits_a_line(target));
  return fits ? cat(source, '\t', target, '\t', by, '\n') : cat("# a name that no line can hold, by ", by, "\n");
}

}  // namespace

std::string alignment_text(const LocalizeReport& report) {
  std::string text = "# source\ttarget\tlined up by\n";
  std::vector<const LayerResult*> partner(report.source.size(), nullptr);
  std::set<size_t> taken;
  for (const LayerResult& r : report.layers) {
    partner[r.source] = &r;
    taken.insert(r.target);
  }
  for (size_t i = 0; i < report.source.size(); ++i) {
    const LayerResult* r = partner[i];
    text += r == nullptr ? line(report.source[i].name, "-", "")
                         : line(report.source[i].name, report.target[r->target].name,
                                cat(by_name(r->by), r->transposed ? ", axes in another order" : ""));
  }
  for (size_t j = 0; j < report.target.size(); ++j) {
    if (taken.count(j) == 0) text += line("-", report.target[j].name, "");
  }
  return text;
}

std::vector<GivenPair> parse_alignment(std::string_view text, const std::string& what) {
  std::vector<GivenPair> pairs;
  int number = 0;
  for (std::string row : split(std::string(text), '\n')) {
    ++number;
    if (!row.empty() && row.back() == '\r') row.pop_back();
    if (row.empty() || row[0] == '#') continue;
    const std::vector<std::string> cells = split(row, '\t');
    if (cells.size() < 2 || cells[0].empty() || cells[1].empty())
      fail_malformed(what, ":", number, ": not SOURCE<TAB>TARGET, with - for a layer that has no partner");
    pairs.push_back({cells[0] == "-" ? "" : cells[0], cells[1] == "-" ? "" : cells[1]});
  }
  return pairs;
}

}  // namespace dnn
