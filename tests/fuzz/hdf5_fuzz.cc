// Fuzz target: HDF5 files; every object, attribute and dataset is visited.
#include "formats/wire/hdf5.h"
#include "fuzz/fuzz.h"

namespace {
void visit(const dnn::hdf5::Object& object, int depth, int* budget) {
  if (depth > 8 || --*budget < 0) return;
  for (std::string_view name : object.attribute_names()) {
    dnn::fuzz::refuse_or_accept([&] { object.texts(name); });
    dnn::fuzz::refuse_or_accept([&] { object.numbers(name); });
  }
  dnn::fuzz::refuse_or_accept([&] { object.read(); });
  dnn::fuzz::refuse_or_accept([&] {
    for (std::string_view name : object.names()) {
      if (const auto member = object.member(name)) visit(*member, depth + 1, budget);
    }
  });
}
}  // namespace

DNN_FUZZ(hdf5) {
  return dnn::fuzz::refuse_or_accept([&] {
    dnn::hdf5::File file(dnn::fuzz::as_input(data, size), nullptr);
    int budget = 1000;
    visit(file.root(), 0, &budget);
  });
}
