// Values in the text form; see text_values.h.
#include "graph/text_values.h"

#include <algorithm>
#include <cstring>

#include "base/base64.h"
#include "graph/tensor_text.h"

namespace dnn {
namespace {

// The most that {x, ...} and random() make out of a few bytes of text, for the whole file.
constexpr uint64_t kMaxExpandedBytes = uint64_t{256} << 20;

using Kind = TextToken::Kind;

Dim parse_extent(TextReader& reader) {
  if (reader.accept("?")) return {};
  if (reader.is(Kind::Text)) return Dim(reader.take());
  int64_t size = -1;
  const std::string word = reader.take_name();
  if (!parse_int(word, &size)) return Dim(word);
  if (size < 0) reader.fail("negative extent ", size);
  return size;
}

// {1, 2} and {1, ...}: the elements that are written, each of `step` bytes, or as strings.
struct ElementList {
  std::vector<std::string> texts;
  std::string bytes;
  int64_t count = 0;
  bool repeat = false;  // the last one
};

ElementList parse_element_list(TextReader& reader, DType dtype, int64_t n) {
  ElementList list;
  const size_t step = dtype_size(dtype);
  reader.expect("{");
  reader.skip_newlines();
  while (!reader.is("}")) {
    if (reader.is_word("...")) {
      reader.advance();
      reader.skip_newlines();
      list.repeat = true;
      break;
    }
    if (list.count == n) reader.fail("more than ", n, " elements");
    if (dtype == DType::String) {
      list.texts.push_back(reader.take_text());
    } else {
      std::byte element[16] = {};
      if (!reader.is(Kind::Word) || !parse_element(dtype, reader.token().text, element))
        reader.fail("no ", dtype_name(dtype), " element", reader.found());
      reader.advance();
      list.bytes.append(reinterpret_cast<const char*>(element), step);
    }
    ++list.count;
    reader.skip_newlines();
    if (reader.is("}")) break;
    reader.expect(",");
    reader.skip_newlines();
  }
  reader.expect("}");
  return list;
}

}  // namespace

Type parse_type(TextReader& reader) {
  Type type;
  if (!reader.accept("?")) {
    const std::string name = reader.take_name();
    type.dtype = dtype_from_name(name);
    if (type.dtype == DType::Undefined) reader.fail("there is no element type ", quoted(name));
  }
  if (reader.accept("?")) return type;
  reader.expect("[");
  type.shape.emplace();
  while (!reader.is("]")) {
    type.shape->push_back(parse_extent(reader));
    if (!reader.is("]")) reader.expect(",");
  }
  reader.advance();
  return type;
}

void ValueParser::spend(uint64_t n_bytes) {
  expanded_ += n_bytes;
  if (expanded_ > kMaxExpandedBytes) reader_.fail("the constants expand to more than ", kMaxExpandedBytes, " bytes");
}

Tensor ValueParser::tensor(const Type& type) {
  if (!type.fixed()) reader_.fail("a constant needs a type with every extent, not ", type_text(type));
  const int64_t n = element_count(type.fixed_shape());
  const uint64_t n_bytes = static_cast<uint64_t>(n) > kMaxExpandedBytes
                               ? UINT64_MAX / 2
                               : static_cast<uint64_t>(n) * std::max<size_t>(1, dtype_size(type.dtype));
  if (reader_.is_word("base64")) return base64(type, n_bytes);
  if (reader_.is_word("random")) return random(type, n_bytes);
  if (reader_.is_word("sha256"))
    reader_.fail("a constant is given by its SHA-256 only; print the graph with all constants to parse it");
  return elements(type, n_bytes);
}

Tensor ValueParser::base64(const Type& type, uint64_t n_bytes) {
  reader_.advance();
  const std::vector<uint8_t> bytes = base64_decode(reader_.take_text());
  if (type.dtype == DType::String || bytes.size() != n_bytes)
    reader_.fail(type_text(type), " does not take ", bytes.size(), " bytes");
  if (type.dtype == DType::Bool && !std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b <= 1; }))
    reader_.fail("a bool is neither 0 nor 1");
  Tensor tensor(type.dtype, type.fixed_shape());
  if (n_bytes > 0) std::memcpy(tensor.mutable_bytes(), bytes.data(), bytes.size());
  return tensor;
}

Tensor ValueParser::random(const Type& type, uint64_t n_bytes) {
  reader_.advance();
  reader_.expect("(");
  const auto seed = static_cast<uint64_t>(reader_.take_int());
  reader_.expect(")");
  const Shape shape = type.fixed_shape();
  spend(n_bytes);
  spend(static_cast<uint64_t>(element_count(shape)) * sizeof(float));  // they are made as float32
  if (!is_float(type.dtype) && !is_integer(type.dtype) && type.dtype != DType::Bool)
    reader_.fail("no random ", dtype_name(type.dtype));
  return random_tensor(type.dtype, shape, seed);
}

Tensor ValueParser::elements(const Type& type, uint64_t n_bytes) {
  const Shape shape = type.fixed_shape();
  const int64_t n = element_count(shape);
  const ElementList list = parse_element_list(reader_, type.dtype, n);
  if (list.count < n && (!list.repeat || list.count == 0)) reader_.fail(n, " elements expected, found ", list.count);
  if (list.count < n) spend(n_bytes);
  const size_t step = dtype_size(type.dtype);
  Tensor tensor(type.dtype, shape);
  for (int64_t i = 0; i < n; ++i) {
    const size_t from = std::min(i, list.count - 1);
    if (type.dtype == DType::String) {
      tensor.mutable_strings()[i] = list.texts[from];
    } else {
      std::memcpy(tensor.mutable_bytes() + static_cast<size_t>(i) * step, list.bytes.data() + from * step, step);
    }
  }
  return tensor;
}

Attribute ValueParser::attribute() {
  if (reader_.is("[")) return list();
  if (reader_.is(Kind::Text)) return reader_.take();
  int64_t number = 0;
  if (reader_.accept_int(&number)) return number;
  float real = 0;
  if (reader_.accept_float(&real)) return real;
  for (const std::string_view word : {"ints", "floats", "strings", "tensors"}) {
    if (!reader_.is_word(word)) continue;
    reader_.advance();
    reader_.expect("[");
    reader_.expect("]");
    if (word == "ints") return std::vector<int64_t>();
    if (word == "floats") return std::vector<float>();
    if (word == "strings") return std::vector<std::string>();
    return std::vector<Tensor>();
  }
  return typed_tensor();
}

Attribute ValueParser::list() {
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> strings;
  std::vector<Tensor> tensors;
  size_t count = 0;
  reader_.expect("[");
  reader_.items("]", [&] {
    int64_t number = 0;
    float real = 0;
    ++count;
    if (reader_.is(Kind::Text)) {
      strings.push_back(reader_.take());
    } else if (reader_.accept_int(&number)) {
      ints.push_back(number);
    } else if (reader_.accept_float(&real)) {
      floats.push_back(real);
    } else {
      tensors.push_back(typed_tensor());
    }
  });
  if (count == 0) reader_.fail("an empty list needs its type: ints[], floats[], strings[] or tensors[]");
  if (ints.size() == count) return ints;
  if (floats.size() == count) return floats;
  if (strings.size() == count) return strings;
  if (tensors.size() == count) return tensors;
  reader_.fail("a list mixes types");
}

}  // namespace dnn
