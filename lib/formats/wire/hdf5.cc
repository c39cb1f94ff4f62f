// Structure of an HDF5 file: superblock, object headers, groups, heaps; see hdf5.h. Sections are those of the file format
// specification 3.0.
#include "formats/wire/hdf5.h"

#include <algorithm>
#include <set>

namespace dnn::hdf5 {
namespace {

constexpr char kSignature[] = "\x89HDF\r\n\x1a\n";
constexpr size_t kMaxName = 65535;
// What may be read out of a file is twice its size, and this for small ones that are compressed well.
constexpr uint64_t kFreeBytes = uint64_t{1} << 25;

enum GroupMessage { kLinkInfo = 0x02, kLink = 0x06, kContinuation = 0x10, kSymbolTable = 0x11 };

void expect(ByteReader& in, std::string_view signature, const char* what) {
  if (as_text(in.take(signature.size())) != signature) fail_malformed(what, ": not where it should be");
}

// Up to the NUL that ends it.
std::string_view name_at(ByteReader& in, const char* what) {
  const std::string_view rest = as_text(in.take(std::min(in.remaining(), kMaxName + 1)));
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) fail_malformed(what, ": a name without an end");
  return rest.substr(0, end);
}

}  // namespace

bool is_hdf5(Bytes bytes) { return bytes.size() >= 8 && std::memcmp(bytes.data(), kSignature, 8) == 0; }

// Section II.A.
File::File(Bytes bytes, std::shared_ptr<const void> owner)
    : bytes_(bytes),
      owner_(std::move(owner)),
      budget_(2 * uint64_t{bytes.size()} + kFreeBytes),
      heap_budget_(bytes.size() / 8) {
  if (!is_hdf5(bytes)) fail_malformed("not an HDF5 file");
  ByteReader in = at(8, "superblock");
  const int version = in.u8();
  if (version > 3) fail_unsupported("HDF5 superblock version ", version, "; 0 to 3 are read");
  if (version < 2) {
    in.take(4);
    offset_size_ = in.u8();
    length_size_ = in.u8();
    in.take(version == 0 ? 9 : 13);
  } else {
    offset_size_ = in.u8();
    length_size_ = in.u8();
    in.take(1);
  }
  for (int size : {offset_size_, length_size_}) {
    if (size != 4 && size != 8) fail_unsupported("HDF5 offsets or lengths of ", size, " bytes");
  }
  if (offset(in) != 0) fail_unsupported("an HDF5 file that begins inside another one");
  offset(in);
  offset(in);
  if (version < 2) {
    offset(in);
    offset(in);  // the root's name
  }
  root_ = offset(in);
}

ByteReader File::at(uint64_t address, const char* what) const {
  ByteReader in(bytes_, what);
  in.seek(address);
  return in;
}

uint64_t File::number(ByteReader& in, int size) { return size == 4 ? in.u32() : in.u64(); }

bool File::undefined(uint64_t address) const {
  return offset_size_ == 4 ? address == UINT32_MAX : address == UINT64_MAX;
}

Bytes File::range(uint64_t address, uint64_t size, const char* what) const {
  if (address > bytes_.size() || size > bytes_.size() - address)
    fail_malformed(what, ": ", size, " bytes at ", address, " lie beyond the end of the file");
  return bytes_.subspan(address, size);
}

void File::spend(uint64_t bytes) {
  if (bytes > budget_) fail_unsupported("HDF5 data of far more than the file's size");
  budget_ -= bytes;
}

Object File::object(uint64_t address) {
  std::vector<Message> messages;
  if (as_text(range(address, 4, "object header")) == "OHDR") {
    read_messages_2(address, &messages);
  } else {
    read_messages_1(address, &messages);
  }
  return {*this, std::move(messages)};
}

// Section IV.A.1.a. A continuation is taken once; all of them together are no longer than the file.
void File::read_messages_1(uint64_t address, std::vector<Message>* out) const {
  ByteReader in = at(address, "object header");
  const int version = in.u8();
  if (version != 1) fail_malformed("object header: version ", version, " at ", address);
  in.take(7);
  const uint32_t size = in.u32();
  in.take(4);
  std::vector<std::pair<uint64_t, uint64_t>> blocks = {{address + 16, size}};
  uint64_t visited = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    ByteReader block(range(blocks[i].first, blocks[i].second, "object header"), "object header");
    visited += block.remaining() + 1;
    if (visited > 2 * bytes_.size()) fail_malformed("object header: its parts overlap");
    while (block.remaining() >= 8) {
      const int type = block.u16(), bytes = block.u16(), flags = block.u8();
      block.take(3);
      const Bytes content = block.take(bytes);
      if (type == kContinuation) {
        ByteReader next(content, "continuation");
        const uint64_t start = offset(next);
        blocks.emplace_back(start, length(next));
      } else if (type != 0) {
        out->push_back({(flags & 2) != 0 ? -type : type, content});
      }
    }
  }
}

// Section IV.A.1.b.
void File::read_messages_2(uint64_t address, std::vector<Message>* out) const {
  ByteReader in = at(address, "object header");
  in.take(4);
  const int version = in.u8(), flags = in.u8();
  if (version != 2) fail_unsupported("HDF5 object header version ", version);
  if ((flags & 0x20) != 0) in.take(16);
  if ((flags & 0x10) != 0) in.take(4);
  uint64_t size = 0;
  std::memcpy(&size, in.take(size_t{1} << (flags & 3)).data(), size_t{1} << (flags & 3));
  std::vector<std::pair<uint64_t, uint64_t>> blocks = {{in.position(), size}};
  const size_t order = (flags & 4) != 0 ? 2 : 0;
  uint64_t visited = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    ByteReader block(range(blocks[i].first, blocks[i].second, "object header"), "object header");
    visited += block.remaining() + 1;
    if (visited > 2 * bytes_.size()) fail_malformed("object header: its parts overlap");
    size_t end = block.remaining();
    if (i > 0) {
      expect(block, "OCHK", "continuation");
      if (end < 8) fail_malformed("continuation: too short");
      end -= 4;
    }
    while (block.position() + 4 + order <= end) {
      const int type = block.u8(), bytes = block.u16(), message_flags = block.u8();
      block.take(order);
      const Bytes content = block.take(bytes);
      if (type == kContinuation) {
        ByteReader next(content, "continuation");
        const uint64_t start = offset(next);
        blocks.emplace_back(start, length(next));
      } else if (type != 0) {
        out->push_back({(message_flags & 2) != 0 ? -type : type, content});
      }
    }
  }
}

std::map<std::string_view, uint64_t> File::links(const Object& group) const {
  std::map<std::string_view, uint64_t> result;
  for (const Message& message : group.messages_) {
    ByteReader in(message.content, "group");
    if (message.type == kSymbolTable) {
      const uint64_t tree = offset(in);
      read_symbols(tree, offset(in), &result);
    } else if (message.type == kLink) {
      read_link(message.content, &result);
    } else if (message.type == kLinkInfo) {
      in.take(1);
      if ((in.u8() & 1) != 0) in.take(8);
      if (!undefined(offset(in))) fail_unsupported("an HDF5 group with dense link storage");
    }
  }
  return result;
}

// Sections III.A.1, III.B, III.D: a B-tree of symbol nodes, whose names lie in a local heap.
void File::read_symbols(uint64_t tree, uint64_t heap, std::map<std::string_view, uint64_t>* out) const {
  ByteReader in = at(heap, "local heap");
  expect(in, "HEAP", "local heap");
  in.take(4);
  const uint64_t heap_size = length(in);
  length(in);
  const Bytes names = range(offset(in), heap_size, "local heap");
  std::vector<uint64_t> open = {tree};
  std::set<uint64_t> seen;
  uint64_t entries = 0;
  while (!open.empty()) {
    const uint64_t address = open.back();
    open.pop_back();
    if (!seen.insert(address).second) fail_malformed("group: its tree names a node twice");
    ByteReader node = at(address, "group");
    if (as_text(range(address, 4, "group")) == "TREE") {
      node.take(4);
      const int type = node.u8(), level = node.u8(), n = node.u16();
      if (type != 0 || level > kMaxTreeLevel) fail_malformed("group: a tree of type ", type, ", level ", level);
      offset(node);
      offset(node);
      entries += static_cast<uint64_t>(n);
      if (entries > bytes_.size()) fail_malformed("group: the nodes of its tree overlap");
      for (int i = 0; i < n; ++i) {
        length(node);
        open.push_back(offset(node));
      }
      continue;
    }
    expect(node, "SNOD", "group");
    node.take(2);
    const int n = node.u16();
    entries += static_cast<uint64_t>(n);
    if (entries > bytes_.size()) fail_malformed("group: the nodes of its tree overlap");
    for (int i = 0; i < n; ++i) {
      const uint64_t name = offset(node), object = offset(node);
      const uint32_t cached = node.u32();
      node.take(20);
      ByteReader at_name(names, "local heap");
      at_name.seek(name);
      if (cached != 2) out->emplace(name_at(at_name, "local heap"), object);  // 2: a symbolic link
    }
  }
}

// Section IV.A.2.g.
void File::read_link(Bytes content, std::map<std::string_view, uint64_t>* out) const {
  ByteReader in(content, "link");
  const int version = in.u8(), flags = in.u8();
  if (version != 1) fail_unsupported("HDF5 link message version ", version);
  const int type = (flags & 8) != 0 ? in.u8() : 0;
  if ((flags & 4) != 0) in.take(8);
  if ((flags & 16) != 0) in.take(1);
  uint64_t size = 0;
  std::memcpy(&size, in.take(size_t{1} << (flags & 3)).data(), size_t{1} << (flags & 3));
  const std::string_view name = as_text(in.take(size));
  if (type == 0) out->emplace(name, offset(in));
}

// Section III.E.
std::string_view File::heap_text(ByteReader& in) {
  const uint64_t size = in.u32(), address = offset(in), index = in.u32();
  if (size == 0) return {};
  const auto [at_heap, fresh] = heaps_.try_emplace(address);
  std::vector<HeapObject>& objects = at_heap->second;
  if (fresh) {
    ByteReader head = at(address, "global heap");
    expect(head, "GCOL", "global heap");
    head.take(4);
    ByteReader heap(range(address, length(head), "global heap"), "global heap");
    heap.take(8 + static_cast<size_t>(length_size_));
    while (heap.remaining() >= 8 + static_cast<size_t>(length_size_)) {
      const uint64_t id = heap.u16();
      heap.take(6);
      const uint64_t bytes = length(heap);
      if (id == 0) break;  // what is free
      if (heap_budget_-- == 0) fail_malformed("global heap: its parts overlap");
      const Bytes content = heap.take(bytes);
      heap.take(std::min<size_t>(heap.remaining(), (8 - bytes % 8) % 8));
      objects.push_back({id, content});
    }
    const auto by_index = [](const HeapObject& a, const HeapObject& b) { return a.index < b.index; };
    std::stable_sort(objects.begin(), objects.end(), by_index);
  }
  const auto found = std::lower_bound(objects.begin(), objects.end(), index,
                                      [](const HeapObject& a, uint64_t wanted) { return a.index < wanted; });
  if (found == objects.end() || found->index != index || found->content.size() < size)
    fail_malformed("global heap: there is no object ", index, " of ", size, " bytes");
  return as_text(found->content.first(size));
}

const Message* Object::find(int type) const {
  for (const Message& message : messages_) {
    if (message.type == type) return &message;
    if (message.type == -type) fail_unsupported("HDF5 messages shared between objects (type ", type, ")");
  }
  return nullptr;
}

std::vector<std::string_view> Object::names() const {
  std::vector<std::string_view> result;
  for (const auto& entry : links()) result.push_back(entry.first);
  return result;
}

const std::map<std::string_view, uint64_t>& Object::links() const {
  if (links_ == nullptr) links_ = std::make_shared<const std::map<std::string_view, uint64_t>>(file_->links(*this));
  return *links_;
}

std::optional<Object> Object::member(std::string_view path) const {
  Object here = *this;
  for (const std::string& part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    const auto found = here.links().find(part);
    if (found == here.links().end()) return std::nullopt;
    here = file_->object(found->second);
  }
  return here;
}

}  // namespace dnn::hdf5
