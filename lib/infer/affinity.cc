// Processors of a run; see affinity.h.
#include "infer/affinity.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/affinity.h"
#include "base/error.h"

namespace dnn {
namespace {

bool contains(std::span<const int> processors, int one) {
  return std::find(processors.begin(), processors.end(), one) != processors.end();
}

std::vector<int> of_kind(const std::string& asked, const std::vector<std::vector<int>>& classes,
                         std::span<const int> allowed) {
  if (classes.size() < 2) {
    if (asked == "little") fail_usage("--affinity little: all cores of this machine are alike");
    return {allowed.begin(), allowed.end()};
  }
  const std::vector<int>& kind = asked == "big" ? classes.front() : classes.back();
  std::vector<int> processors;
  std::copy_if(kind.begin(), kind.end(), std::back_inserter(processors), [&](int i) { return contains(allowed, i); });
  if (processors.empty())
    fail_usage("--affinity ", asked, ": none of ", processors_text(kind), " for this process, which may use ",
               processors_text(allowed));
  return processors;
}

}  // namespace

std::vector<int> choose_processors(const std::string& asked, const std::vector<std::vector<int>>& classes,
                                   std::span<const int> allowed) {
  if (asked == "big" || asked == "little") return of_kind(asked, classes, allowed);
  const std::optional<std::vector<int>> processors = parse_processors(asked);
  if (!processors)
    fail_usage("--affinity ", quoted(asked), ": neither a list of processors, as 0,2-5, nor big, little");
  std::vector<int> seen;
  for (const int processor : *processors) {
    if (!contains(allowed, processor))
      fail_usage("--affinity ", asked, ": no processor ", processor, " for this process, which may use ",
                 processors_text(allowed));
    if (contains(seen, processor)) fail_usage("--affinity ", asked, ": processor ", processor, " is there twice");
    seen.push_back(processor);
  }
  return seen;
}

}  // namespace dnn
