// Datatypes, dataspaces, attributes and datasets of an HDF5 file; see hdf5.h.
#include <algorithm>
#include <bit>

#include "base/zip.h"
#include "formats/wire/hdf5.h"

namespace dnn::hdf5 {
namespace {

enum DataMessage {
  kDataspace = 0x01,
  kDatatype = 0x03,
  kFillValue = 0x05,
  kLayout = 0x08,
  kFilters = 0x0B,
  kAttribute = 0x0C,
  kAttributeInfo = 0x15
};
constexpr int kMaxRank = 32;

const char* class_name(int number) {
  static const char* const names[] = {"fixed-point", "floating-point",  "time",     "string",
                                      "bit field",   "opaque",          "compound", "reference",
                                      "enumeration", "variable-length", "array"};
  return number < 11 ? names[number] : "unknown";
}

struct Filter {
  int id = 0;
  uint32_t first_value = 0;
};

// Section IV.A.2.l.
std::vector<Filter> filters_of(Bytes content) {
  ByteReader in(content, "filters");
  const int version = in.u8(), n = in.u8();
  if (version != 1 && version != 2) fail_unsupported("HDF5 filter pipeline version ", version);
  if (version == 1) in.take(6);
  std::vector<Filter> result;
  for (int i = 0; i < n; ++i) {
    Filter filter;
    filter.id = in.u16();
    const size_t name = version == 1 || filter.id >= 256 ? in.u16() : 0;
    in.take(2);
    const int values = in.u16();
    in.take(version == 1 ? (name + 7) / 8 * 8 : name);
    for (int v = 0; v < values; ++v) {
      const uint32_t value = in.u32();
      if (v == 0) filter.first_value = value;
    }
    if (version == 1 && values % 2 == 1) in.take(4);
    result.push_back(filter);
  }
  return result;
}

// Byte k of every element stands together.
std::string unshuffled(std::string_view bytes, size_t element) {
  if (element < 2) return std::string(bytes);
  std::string result(bytes);
  const size_t n = bytes.size() / element;
  for (size_t k = 0; k < element; ++k) {
    for (size_t i = 0; i < n; ++i) result[i * element + k] = bytes[k * n + i];
  }
  return result;
}

// A chunk of `size` bytes from what is stored, the filters undone from the last to the first; bit i of `skipped`: filter i
// was not applied.
std::string unfiltered(Bytes stored, const std::vector<Filter>& filters, uint32_t skipped, uint64_t size) {
  std::string bytes(as_text(stored));
  for (size_t i = filters.size(); i-- > 0;) {
    if (i < 32 && (skipped >> i & 1) != 0) continue;
    switch (filters[i].id) {
      case 1: {
        const bool checked = std::any_of(filters.begin(), filters.begin() + static_cast<std::ptrdiff_t>(i),
                                         [](const Filter& f) { return f.id == 3; });
        bytes = inflate(as_bytes(bytes), size + (checked ? 4 : 0), false);
        break;
      }
      case 2: bytes = unshuffled(bytes, filters[i].first_value); break;
      case 3:
        if (bytes.size() < 4) fail_malformed("a chunk of ", bytes.size(), " bytes with a checksum");
        bytes.resize(bytes.size() - 4);
        break;
      case 4: fail_unsupported("HDF5 data compressed by szip");
      case 5: fail_unsupported("HDF5 data packed by the n-bit filter");
      case 6: fail_unsupported("HDF5 data packed by the scale-offset filter");
      default: fail_unsupported("HDF5 filter ", filters[i].id);
    }
  }
  if (bytes.size() != size) fail_malformed("a chunk of ", bytes.size(), " bytes, not ", size);
  return bytes;
}

// Copies the part of a chunk at `origin` that lies inside the dataset.
void place(std::string_view chunk, const Shape& extents, const Shape& origin, const Shape& shape, size_t element,
           std::byte* out) {
  const std::vector<int64_t> from = row_major_strides(extents), to = row_major_strides(shape);
  const size_t rank = shape.size();
  Shape count(rank), at(rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    count[i] = std::min(extents[i], shape[i] - origin[i]);
    if (count[i] <= 0) return;
  }
  const size_t row = rank == 0 ? element : static_cast<size_t>(count[rank - 1]) * element;
  for (;;) {
    int64_t source = 0, target = 0;
    for (size_t i = 0; i < rank; ++i) {
      source += at[i] * from[i];
      target += (origin[i] + at[i]) * to[i];
    }
    std::memcpy(out + static_cast<size_t>(target) * element, chunk.data() + static_cast<size_t>(source) * element, row);
    size_t axis = rank < 2 ? 0 : rank - 1;
    while (axis > 0 && ++at[axis - 1] == count[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

// Section IV.A.2.f: `total` bytes, which are 0 so far, become elements of the fill value.
void fill_with(Bytes message, uint64_t element_size, uint64_t total, std::byte* out) {
  ByteReader in(message, "fill value");
  const int version = in.u8();
  const int flags = version == 3 ? in.u8() : 0;
  if (version < 3) in.take(2);
  const bool defined = version == 3 ? (flags & 0x20) != 0 : version == 1 || in.u8() != 0;
  if (!defined || in.remaining() < 4 || in.u32() != element_size) return;
  const Bytes element = in.take(element_size);
  if (total == 0 || std::all_of(element.begin(), element.end(), [](std::byte b) { return b == std::byte{0}; })) return;
  std::memcpy(out, element.data(), element_size);
  for (uint64_t filled = element_size, n = 0; filled < total; filled += n) {  // what is there once more
    n = std::min(filled, total - filled);
    std::memcpy(out + filled, out, n);
  }
}

DType dtype_of(const Datatype& type) {
  if (type.kind == Datatype::Kind::Float)
    return type.size == 2 ? DType::Float16 : type.size == 4 ? DType::Float32 : DType::Float64;
  switch (type.size) {
    case 1: return type.is_signed ? DType::Int8 : DType::UInt8;
    case 2: return type.is_signed ? DType::Int16 : DType::UInt16;
    case 4: return type.is_signed ? DType::Int32 : DType::UInt32;
    default: return type.is_signed ? DType::Int64 : DType::UInt64;
  }
}

}  // namespace

// Section IV.A.2.d.
Datatype File::datatype(ByteReader& in, size_t size) const {
  const Bytes content = in.take(size);
  ByteReader type(content, "datatype");
  const int head = type.u8(), number = head & 15;
  const uint32_t bits = type.u8() | static_cast<uint32_t>(type.u16()) << 8;
  Datatype result;
  result.size = type.u32();
  if (number == 3) {
    result.kind = Datatype::Kind::Text;
    result.padding = static_cast<char>(bits & 15);
    return result;
  }
  if (number == 9 && (bits & 15) == 1) {
    result.kind = Datatype::Kind::VariableText;
    if (result.size != 8 + static_cast<uint64_t>(offset_size_))
      fail_malformed("variable text of ", result.size, " bytes");
    return result;
  }
  if (number > 1) fail_unsupported("HDF5 data of class ", class_name(number));
  const int start = type.u16(), precision = type.u16();
  const bool whole = start == 0 && static_cast<uint64_t>(precision) == 8 * result.size;
  result.big_endian = (bits & 1) != 0;
  if (number == 0) {
    result.is_signed = (bits & 8) != 0;
    if (!whole || result.size > 8 || std::popcount(result.size) != 1)
      fail_unsupported("HDF5 integers of ", precision, " bits in ", result.size, " bytes");
    return result;
  }
  result.kind = Datatype::Kind::Float;
  if ((bits & 0x40) != 0) fail_unsupported("HDF5 floating-point numbers in VAX order");
  const int exponent_at = type.u8(), exponent = type.u8();
  type.u8();
  const int mantissa = type.u8();
  const bool half = result.size == 2 && exponent_at == 10 && exponent == 5 && mantissa == 10;
  const bool single = result.size == 4 && exponent_at == 23 && exponent == 8 && mantissa == 23;
  const bool twice = result.size == 8 && exponent_at == 52 && exponent == 11 && mantissa == 52;
  if (!whole || (!half && !single && !twice))
    fail_unsupported("HDF5 floating-point numbers of ", exponent, " + ", mantissa, " bits");
  return result;
}

// Section IV.A.2.b.
Shape File::dataspace(Bytes content) const {
  ByteReader in(content, "dataspace");
  const int version = in.u8(), rank = in.u8();
  if (version != 1 && version != 2) fail_unsupported("HDF5 dataspace version ", version);
  if (rank > kMaxRank) fail_malformed("a dataspace of rank ", rank);
  in.take(1);
  const int kind = version == 2 ? in.u8() : 1;
  if (version == 1) in.take(5);
  if (kind == 2) return {0};  // null
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    const uint64_t extent = length(in);
    if (extent > INT64_MAX) fail_malformed("an extent of ", extent);
    shape.push_back(static_cast<int64_t>(extent));
  }
  element_count(shape);
  return shape;
}

Tensor File::tensor(const Datatype& type, const Shape& shape, Bytes bytes) {
  const DType dtype = dtype_of(type);
  spend(bytes.size());
  const bool swap = type.big_endian && type.size > 1;
  if (!swap && reinterpret_cast<uintptr_t>(bytes.data()) % type.size == 0)
    return Tensor::view(dtype, shape, bytes, owner_);
  Tensor result(dtype, shape);
  if (bytes.empty()) return result;
  std::byte* out = result.mutable_bytes();
  std::memcpy(out, bytes.data(), bytes.size());
  for (size_t i = 0; swap && i < bytes.size(); i += type.size) std::reverse(out + i, out + i + type.size);
  return result;
}

// --- attributes ---

struct Object::Attribute {
  std::string_view name;
  Datatype type;
  Shape shape;
  Bytes content;
};

namespace {
struct AttributeHead {
  int version = 0, flags = 0;
  size_t type_size = 0, space_size = 0;
  std::string_view name;
};

// Section IV.A.2.m: what stands before the datatype.
AttributeHead attribute_head(ByteReader& in) {
  AttributeHead head;
  head.version = in.u8();
  if (head.version < 1 || head.version > 3) fail_unsupported("HDF5 attribute version ", head.version);
  head.flags = in.u8();
  const size_t name_size = in.u16();
  head.type_size = in.u16();
  head.space_size = in.u16();
  if (head.version == 3) in.take(1);
  head.name = as_text(in.take(head.version == 1 ? (name_size + 7) / 8 * 8 : name_size));
  head.name = head.name.substr(0, std::min(head.name.find('\0'), head.name.size()));
  return head;
}
}  // namespace

std::vector<std::string_view> Object::attribute_names() const {
  std::vector<std::string_view> result;
  for (const Message& message : messages_) {
    if (message.type != kAttribute) continue;
    ByteReader in(message.content, "attribute");
    result.push_back(attribute_head(in).name);
  }
  return result;
}

std::optional<Object::Attribute> Object::attribute(std::string_view name) const {
  for (const Message& message : messages_) {
    if (message.type != kAttribute) continue;
    ByteReader in(message.content, "attribute");
    const AttributeHead head = attribute_head(in);
    if (head.name != name) continue;
    if (head.version > 1 && (head.flags & 3) != 0) fail_unsupported("HDF5 attribute '", name, "' of a shared datatype");
    const auto padded = [&](size_t n) { return head.version == 1 ? (n + 7) / 8 * 8 : n; };
    Attribute result;
    result.name = name;
    ByteReader type(in.take(padded(head.type_size)), "datatype");
    result.type = file_->datatype(type, head.type_size);
    result.shape = file_->dataspace(in.take(padded(head.space_size)));
    const auto n = static_cast<uint64_t>(element_count(result.shape));
    if (result.type.size == 0 ? n > 0 : n > in.remaining() / result.type.size)
      fail_malformed("attribute '", name, "': ", in.remaining(), " bytes for ", n, " elements");
    result.content = in.take(n * result.type.size);
    return result;
  }
  for (const Message& message : messages_) {
    if (message.type != kAttributeInfo) continue;
    ByteReader in(message.content, "attributes");
    in.take(1);
    if ((in.u8() & 1) != 0) in.take(2);
    if (!file_->undefined(file_->offset(in))) fail_unsupported("HDF5 attributes in dense storage");
  }
  return std::nullopt;
}

bool Object::has_attribute(std::string_view name) const {
  const std::vector<std::string_view> all = attribute_names();
  return std::find(all.begin(), all.end(), name) != all.end();
}

std::vector<std::string_view> Object::texts(std::string_view name) const {
  const std::optional<Attribute> found = attribute(name);
  if (!found) fail_malformed("there is no attribute '", name, "'");
  if (element_count(found->shape) == 0) return {};
  if (!found->type.is_text()) fail_malformed("attribute '", name, "' holds numbers, not text");
  ByteReader in(found->content, "attribute");
  std::vector<std::string_view> result;
  while (in.remaining() > 0) {
    if (found->type.kind == Datatype::Kind::VariableText) {
      result.push_back(file_->heap_text(in));
      continue;
    }
    std::string_view text = as_text(in.take(found->type.size));
    text = text.substr(0, std::min(text.find('\0'), text.size()));
    while (found->type.padding == 2 && !text.empty() && text.back() == ' ') text.remove_suffix(1);
    result.push_back(text);
  }
  return result;
}

std::string Object::text(std::string_view name) const {
  const std::vector<std::string_view> all = texts(name);
  if (all.size() != 1) fail_malformed("attribute '", name, "' holds ", all.size(), " texts, not one");
  return std::string(all[0]);
}

Tensor Object::numbers(std::string_view name) const {
  const std::optional<Attribute> found = attribute(name);
  if (!found) fail_malformed("there is no attribute '", name, "'");
  if (found->type.is_text()) fail_malformed("attribute '", name, "' holds text, not numbers");
  return file_->tensor(found->type, found->shape, found->content);
}

// --- datasets ---

// Section IV.A.2.i.
Tensor Object::read() const {
  const Message *space = find(kDataspace), *kind = find(kDatatype), *layout = find(kLayout);
  if (space == nullptr || kind == nullptr || layout == nullptr) fail_malformed("not a dataset");
  const Shape shape = file_->dataspace(space->content);
  ByteReader type_in(kind->content, "datatype");
  const Datatype type = file_->datatype(type_in, kind->content.size());
  if (type.is_text()) fail_unsupported("an HDF5 dataset of text");
  const auto count = static_cast<uint64_t>(element_count(shape));
  if (count > uint64_t{1} << 48) fail_malformed("a dataset of ", count, " elements");
  const uint64_t size = count * type.size;
  ByteReader in(layout->content, "layout");
  const int version = in.u8();
  if (version < 1 || version > 4) fail_unsupported("HDF5 layout version ", version);
  int form = 0;
  uint64_t address = UINT64_MAX;
  Bytes stored;
  if (version < 3) {
    const int rank = in.u8();
    form = in.u8();
    in.take(5);
    if (form != 0) address = file_->offset(in);
    if (form == 2) return read_chunks(layout->content, type, shape);
    in.take(4 * static_cast<size_t>(rank));
    if (form == 0) stored = in.take(in.u32());
  } else {
    form = in.u8();
    if (form == 2) return read_chunks(layout->content, type, shape);
    if (form == 0) stored = in.take(in.u16());
    if (form == 1) address = file_->offset(in);
  }
  if (form > 2) fail_unsupported("HDF5 layout class ", form);
  if (form == 1) {
    if (file_->undefined(address)) {  // never written
      file_->spend(size);
      return {dtype_of(type), shape};
    }
    stored = file_->range(address, size, "dataset");
  }
  if (stored.size() < size) fail_malformed("a dataset of ", stored.size(), " bytes, ", size, " expected");
  return file_->tensor(type, shape, stored.first(size));
}

struct Object::Chunks {
  uint64_t tree = 0;  // its address
  Shape extents;      // of a chunk
  uint64_t size = 0;  // bytes of a chunk
};

// Section IV.A.2.i.
Object::Chunks Object::chunks(Bytes layout, const Datatype& type, const Shape& shape) const {
  ByteReader in(layout, "layout");
  const int version = in.u8();
  if (version == 4) fail_unsupported("HDF5 chunk indices of the newest version; write the file with libver 'earliest'");
  Chunks result;
  if (version == 3) in.take(1);
  const size_t rank = in.u8();
  if (version != 3) in.take(6);
  result.tree = file_->offset(in);
  if (rank != shape.size() + 1) fail_malformed("chunks of rank ", rank, " in a dataset of rank ", shape.size());
  for (size_t i = 0; i + 1 < rank; ++i) result.extents.push_back(in.u32());
  if (in.u32() != type.size) fail_malformed("chunks of another element size");
  file_->spend(static_cast<uint64_t>(element_count(shape)) * type.size);
  const int64_t count = element_count(result.extents);
  if (count < 1 || count > int64_t{1} << 32) fail_malformed("chunks of ", count, " elements");
  result.size = static_cast<uint64_t>(count) * type.size;
  return result;
}

// Section III.A.1: chunks found through a B-tree of version 1.
Tensor Object::read_chunks(Bytes layout, const Datatype& type, const Shape& shape) const {
  const Chunks chunks = this->chunks(layout, type, shape);
  const uint64_t total = static_cast<uint64_t>(element_count(shape)) * type.size;
  const Message* pipeline = find(kFilters);
  const std::vector<Filter> filters = pipeline == nullptr ? std::vector<Filter>() : filters_of(pipeline->content);
  Tensor result(dtype_of(type), shape);
  std::byte* out = result.mutable_bytes();
  if (const Message* fill = find(kFillValue)) fill_with(fill->content, type.size, total, out);
  std::vector<uint64_t> open = {chunks.tree};
  if (file_->undefined(chunks.tree)) open.clear();
  uint64_t entries = 0;
  while (!open.empty()) {
    ByteReader node = file_->at(open.back(), "chunks");
    open.pop_back();
    if (as_text(node.take(4)) != "TREE") fail_malformed("chunks: a tree is not where it should be");
    const int kind = node.u8(), level = node.u8(), n = node.u16();
    entries += static_cast<uint64_t>(n) + 1;
    if (entries > file_->bytes_.size()) fail_malformed("chunks: the nodes of their tree overlap");
    if (kind != 1 || level > kMaxTreeLevel) fail_malformed("chunks: a tree of type ", kind, ", level ", level);
    file_->offset(node);
    file_->offset(node);
    for (int i = 0; i < n; ++i) {
      const uint64_t stored = node.u32();
      const uint32_t skipped = node.u32();
      Shape origin;
      for (const int64_t extent : shape) {
        const uint64_t offset = node.u64();
        if (offset > static_cast<uint64_t>(extent)) fail_malformed("a chunk outside its dataset");
        origin.push_back(static_cast<int64_t>(offset));
      }
      node.u64();
      const uint64_t child = file_->offset(node);
      if (level > 0) {
        open.push_back(child);
        continue;
      }
      file_->spend(chunks.size);
      place(unfiltered(file_->range(child, stored, "chunk"), filters, skipped, chunks.size), chunks.extents, origin,
            shape, type.size, out);
    }
  }
  for (uint64_t i = 0; type.big_endian && i < total; i += type.size) std::reverse(out + i, out + i + type.size);
  return result;
}

}  // namespace dnn::hdf5
