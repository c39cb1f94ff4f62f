// Which fields of a table are stated; see fields.h.
#include "formats/tflite/fields.h"

#include "base/text.h"

namespace dnn::tflite {
namespace {

const uint8_t* bytes_of(const flatbuffers::Table& table) { return reinterpret_cast<const uint8_t*>(&table); }

const uint8_t* vtable_of(const flatbuffers::Table& table) {
  return bytes_of(table) - flatbuffers::ReadScalar<flatbuffers::soffset_t>(bytes_of(table));
}

int field_count(const flatbuffers::Table& table) {
  return (flatbuffers::ReadScalar<flatbuffers::voffset_t>(vtable_of(table)) - 4) / 2;
}

// Where a field lies; null: it is absent.
const uint8_t* place_of(const flatbuffers::Table& table, int field) {
  const auto offset = flatbuffers::ReadScalar<flatbuffers::voffset_t>(vtable_of(table) + 4 + 2 * field);
  return offset == 0 ? nullptr : bytes_of(table) + offset;
}

bool stated(const uint8_t* place, const flatbuffers::TypeCode& code) {
  const bool table = code.sequence_ref >= 0 && code.base_type == flatbuffers::ET_SEQUENCE;
  if (code.is_repeating || code.base_type == flatbuffers::ET_STRING) {
    const auto* list = place + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(place);
    return flatbuffers::ReadScalar<flatbuffers::uoffset_t>(list) > 0;
  }
  if (table) return true;
  const size_t size = flatbuffers::InlineSize(static_cast<flatbuffers::ElementaryType>(code.base_type), nullptr);
  for (size_t i = 0; i < size; ++i) {
    if (place[i] != 0) return true;
  }
  return false;
}

}  // namespace

ProbeTable::ProbeTable(int field) {
  flatbuffers::WriteScalar<flatbuffers::soffset_t>(&bytes_[kTable], kTable);  // from the vtable at the front
  flatbuffers::WriteScalar<flatbuffers::voffset_t>(&bytes_[0], 4 + 2 * kFields);
  flatbuffers::WriteScalar<flatbuffers::voffset_t>(&bytes_[2], kValue + 8 - kTable);
  if (field < 0) return;
  flatbuffers::WriteScalar<flatbuffers::voffset_t>(&bytes_[4 + 2 * static_cast<size_t>(field)], kValue - kTable);
  for (size_t i = 0; i < 8; ++i) bytes_[kValue + i] = 3;
}

std::vector<std::string> stated_fields(const flatbuffers::Table& table, const flatbuffers::TypeTable& type) {
  std::vector<std::string> result;
  for (int field = 0; field < field_count(table); ++field) {
    const uint8_t* place = place_of(table, field);
    if (place == nullptr) continue;
    const bool known = field < static_cast<int>(type.num_elems);
    if (!known) result.push_back(cat("field ", field));
    if (known && stated(place, type.type_codes[field])) result.emplace_back(type.names[field]);
  }
  return result;
}

std::string field_text(const flatbuffers::Table& table, const flatbuffers::TypeTable& type, const std::string& name) {
  for (int field = 0; field < field_count(table) && field < static_cast<int>(type.num_elems); ++field) {
    const uint8_t* place = place_of(table, field);
    const flatbuffers::TypeCode code = type.type_codes[field];
    if (name != type.names[field] || place == nullptr || code.is_repeating) continue;
    switch (code.base_type) {
      case flatbuffers::ET_BOOL:
      case flatbuffers::ET_UTYPE:
      case flatbuffers::ET_UCHAR: return std::to_string(*place);
      case flatbuffers::ET_CHAR: return std::to_string(flatbuffers::ReadScalar<int8_t>(place));
      case flatbuffers::ET_INT: return std::to_string(flatbuffers::ReadScalar<int32_t>(place));
      case flatbuffers::ET_UINT: return std::to_string(flatbuffers::ReadScalar<uint32_t>(place));
      case flatbuffers::ET_ULONG: return std::to_string(flatbuffers::ReadScalar<uint64_t>(place));
      default: return "";
    }
  }
  return "";
}

}  // namespace dnn::tflite
