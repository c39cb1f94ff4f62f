// Writing HDF5; see hdf5_write.h. Sections are those of the file format specification 3.0.
#include "formats/wire/hdf5_write.h"

#include <algorithm>

namespace dnn::hdf5 {
namespace {

constexpr size_t kLeafK = 4,
                 kInternalK = 16;  // a symbol node holds 2 * kLeafK names, a tree node 2 * kInternalK children
constexpr size_t kMaxMessage = 65528;
constexpr uint64_t kUndefined = UINT64_MAX;

// Little-endian numbers one after another.
class Out {
 public:
  Out& u8(uint64_t v) { return put(v, 1); }
  Out& u16(uint64_t v) { return put(v, 2); }
  Out& u32(uint64_t v) { return put(v, 4); }
  Out& u64(uint64_t v) { return put(v, 8); }
  Out& raw(std::string_view bytes) {
    text_.append(bytes);
    return *this;
  }
  Out& pad(size_t unit) {
    text_.resize((text_.size() + unit - 1) / unit * unit);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  Out& put(uint64_t v, int n) {
    for (int i = 0; i < n; ++i) text_.push_back(static_cast<char>(v >> (8 * i) & 0xFF));
    return *this;
  }
  std::string text_;
};

// Section IV.A.2.d.
std::string datatype(DType dtype) {
  Out out;
  const auto bits = static_cast<uint64_t>(8 * dtype_size(dtype));
  if (is_float(dtype)) {
    const uint64_t exponent = bits == 16 ? 5 : bits == 32 ? 8 : 11, mantissa = bits - exponent - 1;
    if (dtype != DType::Float16 && dtype != DType::Float32 && dtype != DType::Float64)
      fail_unsupported("HDF5 has no ", dtype_name(dtype), " that can be written");
    out.u8(0x11).u8(0x20).u8(bits - 1).u8(0).u32(bits / 8).u16(0).u16(bits);
    out.u8(mantissa).u8(exponent).u8(0).u8(mantissa).u32((uint64_t{1} << (exponent - 1)) - 1);
  } else if (is_integer(dtype) && dtype_bits(dtype) == static_cast<int>(bits)) {
    out.u8(0x10).u8(dtype_class(dtype) == DTypeClass::Signed ? 8 : 0).u16(0).u32(bits / 8).u16(0).u16(bits);
  } else {
    fail_unsupported("HDF5 has no ", dtype_name(dtype), " that can be written");
  }
  return out.text();
}

// Variable text in UTF-8.
std::string text_type() {
  return Out().u8(0x19).u8(1).u16(1).u32(16).u8(0x10).u8(0).u16(0).u32(1).u16(0).u16(8).text();
}

std::string dataspace(const Shape& shape) {
  Out out;
  out.u8(1).u8(shape.size()).u8(0).u8(0).u32(0);
  for (int64_t extent : shape) out.u64(static_cast<uint64_t>(extent));
  return out.text();
}

std::string message(int type, const std::string& content) {
  Out out;
  const std::string padded = Out().raw(content).pad(8).text();
  out.u16(static_cast<uint64_t>(type)).u16(padded.size()).u32(0).raw(padded);
  return out.text();
}

class Writer {
 public:
  Content write(const Written& root) {
    collect(root);
    write_heap();
    const Place place = write_node(root);
    Out head;
    head.raw(std::string_view("\x89HDF\r\n\x1a\n", 8)).u32(0).u8(0).u8(8).u8(8).u8(0);
    head.u16(kLeafK).u16(kInternalK).u32(0).u64(0).u64(kUndefined).u64(end()).u64(kUndefined);
    head.u64(0).u64(place.header).u32(1).u32(0).u64(place.tree).u64(place.heap);
    Content file(head.text());
    DNN_CHECK(file.size() == kHeadBytes);
    file.append(rest_);
    return file;
  }

 private:
  // Where an object's header is; of a group also its tree and its heap of names.
  struct Place {
    uint64_t header = 0, tree = kUndefined, heap = kUndefined;
  };

  static constexpr uint64_t kHeadBytes = 96;

  uint64_t end() const { return kHeadBytes + rest_.size(); }
  // Where the next part begins.
  uint64_t place() {
    rest_.append(std::string((8 - end() % 8) % 8, '\0'));
    return end();
  }

  uint64_t append(std::string_view bytes) {
    const uint64_t at = place();
    rest_.append(bytes);
    return at;
  }

  uint64_t append(const Tensor& tensor) {
    const uint64_t at = place();
    tensor.append_to(rest_);
    return at;
  }

  // Every text of the file, in the order in which attributes are written.
  void collect(const Written& node) {
    for (const Written& member : node.members) collect(member);
    for (const WrittenAttribute& attribute : node.attributes) {
      for (const std::string& text : attribute.texts) texts_.push_back(&text);
    }
  }

  // Section III.E: collections of at most 60,000 texts each.
  void write_heap() {
    constexpr size_t kMost = 60000;
    for (size_t first = 0; first < texts_.size(); first += kMost) {
      const size_t last = std::min(texts_.size(), first + kMost);
      Out objects;
      for (size_t i = first; i < last; ++i)
        objects.u16(i - first + 1).u16(0).u32(0).u64(texts_[i]->size()).raw(*texts_[i]).pad(8);
      const size_t used = 16 + objects.text().size(), size = std::max<size_t>(4096, used + 16);
      Out heap;
      heap.raw("GCOL").u32(1).u64(size).raw(objects.text()).u64(0).u64(size - used);
      const uint64_t at = append(heap.text());
      rest_.append(std::string(at + size - end(), '\0'));
      for (size_t i = first; i < last; ++i) heap_places_.emplace_back(at, i - first + 1);
    }
  }

  // Section IV.A.2.m.
  std::string attribute(const WrittenAttribute& a) {
    Out values;
    for (const std::string& text : a.texts) {
      values.u32(text.size()).u64(heap_places_[next_text_].first).u32(heap_places_[next_text_].second);
      ++next_text_;
    }
    const std::string space = dataspace(a.list ? Shape{static_cast<int64_t>(a.texts.size())} : Shape{});
    const std::string type = text_type();
    Out out;
    out.u8(1).u8(0).u16(a.name.size() + 1).u16(type.size()).u16(space.size());
    out.raw(a.name).u8(0).pad(8).raw(type).pad(8).raw(space).pad(8).raw(values.text());
    if (out.text().size() > kMaxMessage) fail_unsupported("attribute '", a.name, "' is too long for HDF5");
    return message(0x0C, out.text());
  }

  uint64_t write_header(const std::vector<std::string>& messages) {
    size_t size = 0;
    for (const std::string& m : messages) size += m.size();
    Out out;
    out.u8(1).u8(0).u16(messages.size()).u32(1).u32(size).u32(0);
    for (const std::string& m : messages) out.raw(m);
    return append(out.text());
  }

  Place write_node(const Written& node) {
    Place place;
    std::vector<std::string> messages;
    if (node.data.defined()) {
      const uint64_t at = node.data.size_bytes() == 0 ? kUndefined : append(node.data);
      messages.push_back(message(0x01, dataspace(node.data.shape())));
      messages.push_back(message(0x03, datatype(node.data.dtype())));
      messages.push_back(message(0x05, Out().u8(2).u8(2).u8(2).u8(1).u32(0).text()));
      messages.push_back(message(0x08, Out().u8(3).u8(1).u64(at).u64(node.data.size_bytes()).text()));
    } else {
      place = write_group(node);
      messages.push_back(message(0x11, Out().u64(place.tree).u64(place.heap).text()));
    }
    for (const WrittenAttribute& a : node.attributes) messages.push_back(attribute(a));
    place.header = write_header(messages);
    return place;
  }

  struct Entry {
    std::string name;
    uint64_t offset = 0;  // of the name in the local heap
    Place place;
    bool group = false;
  };

  // A node of the tree at its lowest level, or one above it, with the offset of the largest name below it.
  struct Branch {
    uint64_t address = 0, last = 0;
  };

  // Sections III.A.1, III.B, III.D.
  Place write_group(const Written& node) {
    std::vector<Entry> entries;
    for (const Written& member : node.members) {
      if (member.name.empty() || member.name.find('/') != std::string::npos ||
          member.name.find('\0') != std::string::npos)
        fail_unsupported("'", member.name, "' cannot be a name in HDF5");
      entries.push_back({member.name, 0, write_node(member), !member.data.defined()});
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
    Out names;
    names.u64(0);
    for (Entry& entry : entries) {
      entry.offset = names.text().size();
      names.raw(entry.name).u8(0).pad(8);
    }
    std::vector<Branch> level;
    for (size_t first = 0; first < entries.size(); first += 2 * kLeafK) {
      const size_t n = std::min(entries.size() - first, 2 * kLeafK);
      Out out;
      out.raw("SNOD").u8(1).u8(0).u16(n);
      for (size_t i = first; i < first + n; ++i) {
        const Entry& e = entries[i];
        out.u64(e.offset).u64(e.place.header).u32(e.group ? 1 : 0).u32(0);
        out.u64(e.group ? e.place.tree : 0).u64(e.group ? e.place.heap : 0);
      }
      std::string bytes = out.text();
      bytes.resize(8 + 2 * kLeafK * 40);
      level.push_back({append(bytes), entries[first + n - 1].offset});
    }
    Place place;
    for (uint64_t height = 0;; ++height) {
      level = write_level(level, height);
      if (level.size() <= 1) break;
    }
    place.tree = level[0].address;
    const uint64_t data = append(names.text());
    Out heap;
    // The head of the list of free parts is 1 where there is none.
    heap.raw("HEAP").u32(0).u64(names.text().size()).u64(1).u64(data);
    place.heap = append(heap.text());
    return place;
  }

  std::vector<Branch> write_level(const std::vector<Branch>& below, uint64_t height) {
    constexpr size_t kMost = 2 * kInternalK, kSize = 24 + (kMost + 1) * 8 + kMost * 8;
    const size_t nodes = std::max<size_t>(1, (below.size() + kMost - 1) / kMost);
    std::vector<Branch> result;
    uint64_t key = 0;
    const uint64_t first_address = place();
    for (size_t i = 0; i < nodes; ++i) {
      const size_t first = i * kMost, n = std::min(below.size() - first, kMost);
      const auto sibling = [&](bool there, size_t at) { return there ? first_address + at * kSize : kUndefined; };
      Out out;
      out.raw("TREE").u8(0).u8(height).u16(n).u64(sibling(i > 0, i - 1)).u64(sibling(i + 1 < nodes, i + 1)).u64(key);
      for (size_t c = first; c < first + n; ++c) {
        out.u64(below[c].address).u64(below[c].last);
        key = below[c].last;
      }
      std::string bytes = out.text();
      bytes.resize(kSize);
      result.push_back({append(bytes), key});
    }
    return result;
  }

  Content rest_;  // of the file, behind its head
  std::vector<const std::string*> texts_;
  std::vector<std::pair<uint64_t, uint64_t>> heap_places_;  // by text: its collection and number there
  size_t next_text_ = 0;
};

}  // namespace

Written& Written::at(std::string_view path) {
  Written* here = this;
  for (const std::string& part : split(path, '/')) {
    const auto found = std::find_if(here->members.begin(), here->members.end(),
                                    [&](const Written& member) { return member.name == part; });
    if (found == here->members.end()) {
      here->members.emplace_back();
      here->members.back().name = part;
      here = &here->members.back();
    } else {
      here = &*found;
    }
  }
  return *here;
}

Content to_content(const Written& root) { return Writer().write(root); }

}  // namespace dnn::hdf5
