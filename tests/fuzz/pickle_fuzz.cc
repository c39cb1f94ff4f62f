// Fuzz target: the unpickler; only Malformed and Unsupported may escape it, and every value of a tree can be looked at.
#include "formats/wire/pickle.h"

#include <cstdint>
#include "fuzz/fuzz.h"

namespace {
void allow(std::string_view module, std::string_view) {
  if (module.size() > 6) dnn::fail_unsupported("global");
}
}  // namespace

DNN_FUZZ(pickle) {
  return dnn::fuzz::refuse_or_accept([&] {
    size_t end = 0;
    const dnn::pickle::Tree tree = dnn::pickle::parse(dnn::fuzz::as_input(data, size), allow, &end);
    if (end > size) __builtin_trap();
    size_t n = 0;
    for (size_t i = 0; i < tree.size(); ++i) {
      const auto ref = static_cast<dnn::pickle::Ref>(i);
      n += tree.callee(ref).size() + tree.pairs(ref).size() + tree[ref].text.size();
    }
    if (n == SIZE_MAX) __builtin_trap();
  });
}
