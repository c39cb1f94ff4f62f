// The msgpack codec; see msgpack.h.
#include "stream/msgpack.h"

#include <bit>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace dnn::stream {
namespace {

enum class Kind : uint8_t {
  Nil,
  False,
  True,
  Unsigned,
  Signed,
  Float32,
  Float64,
  Text,
  Binary,
  Extension,
  Array,
  Map,
  Invalid
};

// What the first byte of a value says: `n_number` bytes follow that are the number itself, or the length of the
// payload (elements for Array, pairs for Map); n_number == 0 means that the number is `inline_value`.
struct Lead {
  Kind kind;
  uint8_t n_number;
  uint8_t inline_value;
};

Lead lead_of(uint8_t b) {
  if (b <= 0x7f) return {Kind::Unsigned, 0, b};
  if (b <= 0x8f) return {Kind::Map, 0, static_cast<uint8_t>(b & 15)};
  if (b <= 0x9f) return {Kind::Array, 0, static_cast<uint8_t>(b & 15)};
  if (b <= 0xbf) return {Kind::Text, 0, static_cast<uint8_t>(b & 31)};
  if (b >= 0xe0) return {Kind::Signed, 0, b};
  static constexpr Lead kLeads[] = {
      {Kind::Nil, 0, 0},        {Kind::Invalid, 0, 0},   {Kind::False, 0, 0},     {Kind::True, 0, 0},       // c0-c3
      {Kind::Binary, 1, 0},     {Kind::Binary, 2, 0},    {Kind::Binary, 4, 0},                              // c4-c6
      {Kind::Extension, 1, 0},  {Kind::Extension, 2, 0}, {Kind::Extension, 4, 0},                           // c7-c9
      {Kind::Float32, 4, 0},    {Kind::Float64, 8, 0},                                                      // ca-cb
      {Kind::Unsigned, 1, 0},   {Kind::Unsigned, 2, 0},  {Kind::Unsigned, 4, 0},  {Kind::Unsigned, 8, 0},   // cc-cf
      {Kind::Signed, 1, 0},     {Kind::Signed, 2, 0},    {Kind::Signed, 4, 0},    {Kind::Signed, 8, 0},     // d0-d3
      {Kind::Extension, 0, 1},  {Kind::Extension, 0, 2}, {Kind::Extension, 0, 4}, {Kind::Extension, 0, 8},  // d4-d7
      {Kind::Extension, 0, 16},                                                                             // d8
      {Kind::Text, 1, 0},       {Kind::Text, 2, 0},      {Kind::Text, 4, 0},                                // d9-db
      {Kind::Array, 2, 0},      {Kind::Array, 4, 0},     {Kind::Map, 2, 0},       {Kind::Map, 4, 0},        // dc-df
  };
  return kLeads[b - 0xc0];
}

bool has_payload(Kind kind) { return kind == Kind::Text || kind == Kind::Binary || kind == Kind::Extension; }

uint64_t big_endian(Bytes bytes) {
  uint64_t value = 0;
  for (std::byte b : bytes) value = value << 8 | static_cast<uint8_t>(b);
  return value;
}

void put_number(uint8_t lead, uint64_t number, int n_number, std::string* out) {
  *out += static_cast<char>(lead);
  for (int i = n_number; i-- > 0;) *out += static_cast<char>(number >> (8 * i) & 0xff);
}

// A length in the shortest of its forms: `small` | length below `n_small`, else lead8 (0: none), lead16, lead16 + 1.
void put_length(size_t length, uint8_t small, size_t n_small, uint8_t lead8, uint8_t lead16, std::string* out) {
  if (length < n_small) {
    put_number(static_cast<uint8_t>(small | length), 0, 0, out);
  } else if (lead8 != 0 && length <= 0xff) {
    put_number(lead8, length, 1, out);
  } else if (length <= 0xffff) {
    put_number(lead16, length, 2, out);
  } else {
    put_number(static_cast<uint8_t>(lead16 + 1), length, 4, out);
  }
}

void put_unsigned(uint64_t value, std::string* out) {
  if (value <= 0x7f) return put_number(static_cast<uint8_t>(value), 0, 0, out);
  if (value <= 0xff) return put_number(0xcc, value, 1, out);
  if (value <= 0xffff) return put_number(0xcd, value, 2, out);
  if (value <= 0xffffffff) return put_number(0xce, value, 4, out);
  put_number(0xcf, value, 8, out);
}

void put_signed(int64_t value, std::string* out) {
  if (value >= 0) return put_unsigned(static_cast<uint64_t>(value), out);
  const auto bits = static_cast<uint64_t>(value);
  if (value >= -32) return put_number(static_cast<uint8_t>(bits & 0xff), 0, 0, out);
  if (value >= INT8_MIN) return put_number(0xd0, bits, 1, out);
  if (value >= INT16_MIN) return put_number(0xd1, bits, 2, out);
  if (value >= INT32_MIN) return put_number(0xd2, bits, 4, out);
  put_number(0xd3, bits, 8, out);
}

void put_double(double value, std::string* out) {
  const auto narrow = static_cast<float>(value);
  if (std::bit_cast<uint64_t>(static_cast<double>(narrow)) == std::bit_cast<uint64_t>(value)) {
    put_number(0xca, std::bit_cast<uint32_t>(narrow), 4, out);
  } else {
    put_number(0xcb, std::bit_cast<uint64_t>(value), 8, out);
  }
}

void encode(const Json& value, size_t depth, std::string* out) {
  if (depth > kMaxRecordDepth) fail_unsupported("a record nests deeper than ", kMaxRecordDepth, " levels");
  switch (value.type()) {
    case Json::value_t::null:
    case Json::value_t::discarded: return put_number(0xc0, 0, 0, out);
    case Json::value_t::boolean: return put_number(value.get<bool>() ? 0xc3 : 0xc2, 0, 0, out);
    case Json::value_t::number_unsigned: return put_unsigned(value.get<uint64_t>(), out);
    case Json::value_t::number_integer: return put_signed(value.get<int64_t>(), out);
    case Json::value_t::number_float: return put_double(value.get<double>(), out);
    case Json::value_t::string: {
      const auto& text = value.get_ref<const std::string&>();
      put_length(text.size(), 0xa0, 32, 0xd9, 0xda, out);
      *out += text;
      return;
    }
    case Json::value_t::binary: {
      const Json::binary_t& bytes = value.get_binary();
      put_length(bytes.size(), 0, 0, 0xc4, 0xc5, out);
      out->append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return;
    }
    case Json::value_t::array:
      put_length(value.size(), 0x90, 16, 0, 0xdc, out);
      for (const Json& element : value) encode(element, depth + 1, out);
      return;
    case Json::value_t::object:
      put_length(value.size(), 0x80, 16, 0, 0xde, out);
      for (const auto& [key, element] : value.items()) {
        put_length(key.size(), 0xa0, 32, 0xd9, 0xda, out);
        *out += key;
        encode(element, depth + 1, out);
      }
      return;
  }
}

class Decoder {
 public:
  explicit Decoder(Bytes bytes) : in_(bytes, "record") {}

  // The scanner has bounded depth and lengths before this runs.
  Json value() {
    const Lead lead = lead_of(in_.u8());
    const uint64_t number = lead.n_number == 0 ? lead.inline_value : big_endian(in_.take(lead.n_number));
    switch (lead.kind) {
      case Kind::Nil: return nullptr;
      case Kind::False: return false;
      case Kind::True: return true;
      case Kind::Unsigned: return number;
      case Kind::Signed: return sign_extended(number, lead.n_number == 0 ? 1 : lead.n_number);
      case Kind::Float32: return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(number)));
      case Kind::Float64: return std::bit_cast<double>(number);
      case Kind::Text: return std::string(as_text(in_.take(number)));
      case Kind::Binary: {
        const Bytes payload = in_.take(number);
        const auto* data = reinterpret_cast<const uint8_t*>(payload.data());
        return Json::binary(std::vector<uint8_t>(data, data + payload.size()));
      }
      case Kind::Extension: in_.take(number + 1); return nullptr;
      case Kind::Array: return array(number);
      case Kind::Map: return map(number);
      case Kind::Invalid: break;
    }
    fail_malformed("record: byte ", in_.position() - 1, " is not msgpack");
  }

 private:
  static int64_t sign_extended(uint64_t number, int n_bytes) {
    const int shift = 64 - 8 * n_bytes;
    return static_cast<int64_t>(number << shift) >> shift;
  }
  Json array(uint64_t n) {
    Json result = Json::array();
    auto& elements = result.get_ref<Json::array_t&>();
    elements.reserve(n);
    for (uint64_t i = 0; i < n; ++i) elements.push_back(value());
    return result;
  }
  Json map(uint64_t n) {
    Json result = Json::object();
    // The vector underneath: the map's own insertion compares with every earlier key. Of equal keys the first counts.
    Json::object_t::Container& pairs = result.get_ref<Json::object_t&>();
    pairs.reserve(n);
    for (uint64_t i = 0; i < n; ++i) {
      Json key = value();
      if (!key.is_string()) fail_malformed("record: a map key before byte ", in_.position(), " is not text");
      pairs.emplace_back(std::move(key.get_ref<std::string&>()), value());
    }
    return result;
  }

  ByteReader in_;
};

}  // namespace

void msgpack_encode(const Json& value, std::string* out) { encode(value, 0, out); }

bool MsgpackScanner::complete(Bytes bytes) {
  while (!open_.empty()) {
    if (position_ >= bytes.size()) return false;
    const Lead lead = lead_of(static_cast<uint8_t>(bytes[position_]));
    if (lead.kind == Kind::Invalid) fail_malformed("record: byte ", position_, " is not msgpack");
    const size_t end = position_ + 1 + lead.n_number;
    if (end > bytes.size()) return false;
    const uint64_t number =
        lead.n_number == 0 ? lead.inline_value : big_endian(bytes.subspan(position_ + 1, lead.n_number));
    uint64_t n_children = 0;
    size_t n_payload = 0;
    if (has_payload(lead.kind)) n_payload = number + (lead.kind == Kind::Extension ? 1 : 0);
    if (lead.kind == Kind::Array) n_children = number;
    if (lead.kind == Kind::Map) n_children = 2 * number;
    items_ += n_children;
    if (items_ > kMaxRecordItems) fail_malformed("record: more than ", kMaxRecordItems, " items");
    if (n_payload > kMaxRecordBytes || end + n_payload > kMaxRecordBytes) {
      fail_malformed("record: longer than ", kMaxRecordBytes, " bytes");
    }
    position_ = end + n_payload;
    --open_.back();
    if (n_children > 0) {
      if (open_.size() > kMaxRecordDepth) fail_malformed("record: nests deeper than ", kMaxRecordDepth, " levels");
      open_.push_back(n_children);
    }
    while (!open_.empty() && open_.back() == 0) open_.pop_back();
  }
  return position_ <= bytes.size();
}

Json msgpack_decode(Bytes bytes) {
  MsgpackScanner scanner;
  if (!scanner.complete(bytes) || scanner.size() != bytes.size()) {
    fail_malformed("record: does not fill its ", bytes.size(), " bytes");
  }
  return msgpack_decode_scanned(bytes);
}

Json msgpack_decode_scanned(Bytes bytes) { return Decoder(bytes).value(); }

}  // namespace dnn::stream
