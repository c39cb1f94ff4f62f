// NumPy's files; see npy.h. The format: numpy.lib.format's documentation and NEP 1.
#include "tensor/npy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "base/zip.h"

namespace dnn {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMaxRank = 64;  // NumPy's own

struct NpyRow {
  std::string_view code;  // kind and bytes as in a dtype string, without its byte order
  DType dtype;
  size_t swap_bytes;  // of the unit that a byte order applies to
};
constexpr std::array<NpyRow, 14> kNpyRows = {{
    {"b1", DType::Bool, 1},
    {"i1", DType::Int8, 1},
    {"i2", DType::Int16, 2},
    {"i4", DType::Int32, 4},
    {"i8", DType::Int64, 8},
    {"u1", DType::UInt8, 1},
    {"u2", DType::UInt16, 2},
    {"u4", DType::UInt32, 4},
    {"u8", DType::UInt64, 8},
    {"f2", DType::Float16, 2},
    {"f4", DType::Float32, 4},
    {"f8", DType::Float64, 8},
    {"c8", DType::Complex64, 4},
    {"c16", DType::Complex128, 8},
}};

// The header is a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}
  void parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        if (peek() != '\'' && peek() != '"') fail_unsupported("npy: arrays of records");
        descr = string();
      } else if (key == "fortran_order") {
        fortran_order = boolean();
      } else if (key == "shape") {
        parse_shape();
      } else {
        fail_malformed("npy: unknown header key ", quoted(key));
      }
      ++n_keys_;
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (at_ != text_.size()) fail_malformed("npy: text behind the header");
    if (n_keys_ != 3 || descr.empty() || !has_shape_)
      fail_malformed("npy: the header lacks descr, fortran_order or shape");
  }

  std::string descr;
  bool fortran_order = false;
  Shape shape;

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail_malformed("npy: '", c, "' expected at byte ", at_, " of the header");
  }
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail_malformed("npy: a string expected at byte ", at_, " of the header");
    const size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) fail_malformed("npy: a string without end in the header");
    std::string value(text_.substr(at_, end - at_));
    if (value.find('\\') != std::string::npos) fail_malformed("npy: an escape in the header");
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    skip();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (starts_with(text_.substr(at_), word)) {
        at_ += word.size();
        return value;
      }
    }
    fail_malformed("npy: fortran_order is neither True nor False");
  }
  void parse_shape() {
    shape.clear();
    has_shape_ = true;
    expect('(');
    while (!accept(')')) {
      skip();
      const size_t begin = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      int64_t extent = 0;
      if (!parse_int(text_.substr(begin, at_ - begin), &extent))
        fail_malformed("npy: an extent of the shape is no number");
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // a long of Python 2
      shape.push_back(extent);
      if (shape.size() > kMaxRank) fail_malformed("npy: more than ", kMaxRank, " axes");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  int n_keys_ = 0;
  bool has_shape_ = false;
};

void swap_units(std::byte* data, size_t n_bytes, size_t unit) {
  for (size_t i = 0; i + unit <= n_bytes; i += unit) std::reverse(data + i, data + i + unit);
}

// Calls visit(row-major index, column-major index) for every element.
template <class Visit>
void each_element(const Shape& shape, Visit&& visit) {
  const int64_t n = element_count(shape);
  std::vector<int64_t> index(shape.size(), 0), step(shape.size(), 1);
  for (size_t i = 1; i < shape.size(); ++i) step[i] = step[i - 1] * shape[i - 1];
  int64_t column_major = 0;
  for (int64_t i = 0; i < n; ++i) {
    visit(i, column_major);
    for (size_t axis = shape.size(); axis-- > 0;) {
      column_major += step[axis];
      if (++index[axis] < shape[axis]) break;
      column_major -= step[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

void append_utf8(uint32_t c, std::string* out) {
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) fail_malformed("npy: ", c, " is no character");
  if (c < 0x80) {
    *out += static_cast<char>(c);
  } else if (c < 0x800) {
    *out += static_cast<char>(0xc0 | c >> 6);
    *out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    *out += static_cast<char>(0xe0 | c >> 12);
    *out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    *out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    *out += static_cast<char>(0xf0 | c >> 18);
    *out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    *out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    *out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

// 'S' (bytes) and 'U' (32-bit characters): fixed width, padded with zeros.
std::string fixed_string(Bytes item, bool unicode, bool swapped) {
  std::string text;
  if (!unicode) {
    text = as_text(item);
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
  }
  size_t n = item.size() / 4;
  std::vector<uint32_t> characters(n);
  for (size_t i = 0; i < n; ++i) {
    uint32_t c = 0;
    for (size_t b = 0; b < 4; ++b) c |= std::to_integer<uint32_t>(item[4 * i + b]) << (8 * (swapped ? 3 - b : b));
    characters[i] = c;
  }
  while (n > 0 && characters[n - 1] == 0) --n;
  for (size_t i = 0; i < n; ++i) append_utf8(characters[i], &text);
  return text;
}

Bytes exact_data(Bytes data, uint64_t item_bytes, const Shape& shape) {
  const auto n = static_cast<uint64_t>(element_count(shape));
  if (item_bytes != 0 && n > data.size() / item_bytes) {
    fail_malformed("npy: shape ", shape_text(shape), " wants ", n, " items of ", item_bytes, " bytes, the file has ",
                   data.size(), " bytes of data");
  }
  return data.first(n * item_bytes);
}

Tensor parse_strings(Bytes data, const HeaderParser& header, bool swapped) {
  int64_t length = 0;
  const bool unicode = header.descr[1] == 'U';
  constexpr int64_t kMaxItem = 1 << 30, kMaxEmpty = 1 << 20;
  if (!parse_int(std::string_view(header.descr).substr(2), &length) || length < 0 || length > kMaxItem) {
    fail_malformed("npy: dtype ", quoted(header.descr));
  }
  const auto item_bytes = static_cast<size_t>(length) * (unicode ? 4 : 1);
  if (item_bytes == 0 && element_count(header.shape) > kMaxEmpty)
    fail_malformed("npy: ", shape_text(header.shape), " empty strings");
  data = exact_data(data, item_bytes, header.shape);
  Tensor tensor(DType::String, header.shape);
  each_element(header.shape, [&](size_t row_major, size_t column_major) {
    const size_t from = (header.fortran_order ? column_major : row_major) * item_bytes;
    tensor.mutable_strings()[row_major] = fixed_string(data.subspan(from, item_bytes), unicode, swapped);
  });
  return tensor;
}

}  // namespace

bool is_npy(Bytes file) { return starts_with(as_text(file), kMagic); }
bool is_npz(Bytes file) { return starts_with(as_text(file), "PK\x03\x04") || starts_with(as_text(file), "PK\x05\x06"); }

namespace {

struct NpyHeader {
  HeaderParser parser;
  size_t data_at;
  bool swapped;
  DType dtype;
  size_t swap_bytes;
};

NpyHeader read_header(Bytes file) {
  if (!is_npy(file)) fail_malformed("npy: no signature");
  ByteReader in(file, "npy");
  in.seek(kMagic.size());
  const uint8_t major = in.u8();
  in.u8();
  if (major < 1 || major > 3) fail_unsupported("npy: version ", int{major});
  const uint32_t header_bytes = major == 1 ? in.u16() : in.u32();
  HeaderParser header(as_text(in.take(header_bytes)));
  header.parse();
  const std::string descr = header.descr;
  const std::string_view code = std::string_view(descr).substr(1);
  const char order = descr[0];
  if (descr == "O" || code.substr(0, 1) == "O")
    fail_unsupported("npy: arrays of Python objects are pickles and stay unread");
  if (order != '<' && order != '>' && order != '|' && order != '=') fail_malformed("npy: dtype ", quoted(descr));
  const bool swapped = order == '>';
  if (code.size() >= 2 && (code[0] == 'S' || code[0] == 'U'))
    return {std::move(header), in.position(), swapped, DType::String, 0};
  const auto row = std::find_if(kNpyRows.begin(), kNpyRows.end(), [&](const NpyRow& r) { return r.code == code; });
  if (row == kNpyRows.end()) fail_unsupported("npy: dtype ", quoted(descr));
  return {std::move(header), in.position(), swapped, row->dtype, row->swap_bytes};
}

}  // namespace

Tensor parse_npy(Bytes file) {
  const NpyHeader read = read_header(file);
  const HeaderParser& header = read.parser;
  const bool swapped = read.swapped;
  const Bytes data = file.subspan(read.data_at);
  if (read.dtype == DType::String) return parse_strings(data, header, swapped);
  const size_t item_bytes = dtype_size(read.dtype);
  const Bytes items = exact_data(data, item_bytes, header.shape);
  Tensor tensor(read.dtype, header.shape);
  std::byte* to = tensor.mutable_bytes();
  if (header.fortran_order && header.shape.size() > 1) {
    each_element(header.shape, [&](size_t row_major, size_t column_major) {
      std::memcpy(to + row_major * item_bytes, items.data() + column_major * item_bytes, item_bytes);
    });
  } else if (!items.empty()) {
    std::memcpy(to, items.data(), items.size());
  }
  if (swapped && read.swap_bytes > 1) swap_units(to, items.size(), read.swap_bytes);
  if (read.dtype == DType::Bool) {
    for (size_t i = 0; i < items.size(); ++i) to[i] = to[i] == std::byte{0} ? std::byte{0} : std::byte{1};
  }
  return tensor;
}

std::vector<std::pair<std::string, Tensor>> parse_npz(Bytes file, const WantsArray& wants, uint64_t most_bytes) {
  constexpr size_t kHeader = 1 << 16;  // NumPy's own are 128 bytes
  if (most_bytes == 0) most_bytes = most_expanded(file.size());
  const ZipArchive archive(file);
  std::vector<std::pair<std::string, Tensor>> arrays;
  uint64_t expanded = 0;
  for (const ZipArchive::Entry& entry : archive.entries()) {
    if (!ends_with(entry.name, ".npy")) continue;
    const std::string name = entry.name.substr(0, entry.name.size() - 4);
    try {
      const std::string head = archive.head(entry, kHeader);
      const NpyHeader header = read_header(as_bytes(head));
      if (wants && !wants(name, header.dtype, header.parser.shape)) continue;
      expanded += entry.size;
      if (expanded > most_bytes) {
        fail_unsupported("the archive of ", file.size(), " bytes expands to ", expanded, " or more; the limit is ",
                         most_bytes, " (--max-memory)");
      }
      const std::string content = archive.read(entry);
      arrays.emplace_back(name, parse_npy(as_bytes(content)));
    } catch (Error& e) {
      if (e.kind() != ErrorKind::Usage) e.within(entry.name);
      throw;
    }
  }
  return arrays;
}

std::string format_npy(const Tensor& tensor) {
  const auto row =
      std::find_if(kNpyRows.begin(), kNpyRows.end(), [&](const NpyRow& r) { return r.dtype == tensor.dtype(); });
  if (row == kNpyRows.end()) fail_unsupported("npy: NumPy has no dtype for ", dtype_name(tensor.dtype()));
  const std::string shape = tensor.rank() == 1 ? cat("(", tensor.dim(0), ",)") : "(" + join(tensor.shape()) + ")";
  std::string header = cat("{'descr': '", dtype_size(row->dtype) == 1 ? '|' : '<', row->code,
                           "', 'fortran_order': False, 'shape': ", shape, ", }");
  constexpr size_t kAlignment = 64;
  const bool large = header.size() + kAlignment > 0xffff;
  const size_t prefix = kMagic.size() + 2 + (large ? 4 : 2);
  header.append(kAlignment - (prefix + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  std::string file(kMagic);
  file += large ? '\2' : '\1';
  file += '\0';
  for (size_t i = 0; i < (large ? 4 : 2); ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return file + header + std::string(as_text(tensor.bytes()));
}

}  // namespace dnn
