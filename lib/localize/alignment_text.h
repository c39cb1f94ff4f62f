// Alignments as text that people read, change and give back: a line for each pair, tab-separated.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "localize/localize.h"

namespace dnn {

// "source<TAB>target<TAB>by<TAB>note" for each pair in the source's order; "-" for a layer that has none.
std::string alignment_text(const LocalizeReport& report);

// The first two columns of what alignment_text() writes; a line that begins with '#' and one that is empty say nothing. Throws
// Malformed with `what` and the line's number.
std::vector<GivenPair> parse_alignment(std::string_view text, const std::string& what);

}  // namespace dnn
