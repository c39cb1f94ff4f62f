// Fields of a FlatBuffer's table, each of which is asked for by its reader or found left over.
#pragma once
#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/minireflect.h>

#include <array>

#include "formats/leftovers.h"

namespace dnn::tflite {

// The fields that a file states with a value other than 0 or nothing; "field 9" is one that the schema lacks. The table is verified.
std::vector<std::string> stated_fields(const flatbuffers::Table& table, const flatbuffers::TypeTable& type);
// A stated field's value as text; "" where it is no number.
std::string field_text(const flatbuffers::Table& table, const flatbuffers::TypeTable& type, const std::string& name);

// A table of its own that has one field, and that all of 3s; or none.
class ProbeTable {
 public:
  explicit ProbeTable(int field);
  const void* table() const { return &bytes_[kTable]; }

 private:
  static constexpr size_t kFields = 32, kTable = 8 + 2 * kFields, kValue = kTable + 8;
  alignas(8) std::array<uint8_t, kValue + 8> bytes_{};
};

// The number of the field that an accessor of T reads: the one on which what it gives depends.
template <class T, class R>
int field_of(R (T::*get)() const) {
  const ProbeTable none(-1);
  const R absent = (static_cast<const T*>(none.table())->*get)();
  const int n = static_cast<int>(T::MiniReflectTypeTable()->num_elems);
  for (int field = 0; field < n; ++field) {
    const ProbeTable probe(field);
    if ((static_cast<const T*>(probe.table())->*get)() != absent) return field;
  }
  return -1;
}

// A table whose fields are read by their accessors alone: options(&Conv2DOptions::stride_w).
template <class T>
class Fields {
 public:
  Fields(const T* table, Leftovers* leftovers) : table_(table), leftovers_(leftovers) {}
  template <class R>
  R operator()(R (T::*get)() const) const {
    const int field = field_of(get);
    if (field >= 0) leftovers_->use(T::MiniReflectTypeTable()->names[field]);
    return (table_->*get)();
  }

 private:
  const T* table_;
  Leftovers* leftovers_;
};

}  // namespace dnn::tflite
