// HDF5 files held in memory (.h5, the weights inside a .keras): groups, attributes and datasets, of the file format
// specification 3.0. Read are superblocks 0 to 3, object headers 1 and 2, symbol tables and link messages, contiguous, compact
// and chunked datasets, deflate, shuffle and fletcher32. Other features are Unsupported by name; damage is Malformed.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace dnn::hdf5 {

inline constexpr int kMaxTreeLevel = 32;

// What elements are.
struct Datatype {
  enum class Kind { Integer, Float, Text, VariableText };
  Kind kind = Kind::Integer;
  uint64_t size = 0;  // bytes of an element as stored
  bool is_signed = false, big_endian = false;
  char padding = 0;  // of Text: 0 ends at a NUL, 1 filled up with NULs, 2 with spaces

  bool is_text() const { return kind == Kind::Text || kind == Kind::VariableText; }
};

struct Message {
  int type = 0;
  Bytes content;
};

class File;

// A group or dataset. Cheap to copy; the file must outlive it.
class Object {
 public:
  bool is_dataset() const { return find(0x08) != nullptr; }
  // Names of a group's members, sorted; they live as long as the file's bytes.
  std::vector<std::string_view> names() const;
  // The member at the end of a path "a/b"; nothing where there is none.
  std::optional<Object> member(std::string_view path) const;

  std::vector<std::string_view> attribute_names() const;
  bool has_attribute(std::string_view name) const;
  // A text attribute, and a list of them; Malformed where it is missing or holds numbers.
  std::string text(std::string_view name) const;
  std::vector<std::string_view> texts(std::string_view name) const;
  // A numeric attribute.
  Tensor numbers(std::string_view name) const;

  // A dataset's elements, which must be numbers; a contiguous one of this machine's byte order is not copied.
  Tensor read() const;

 private:
  friend class File;
  struct Attribute;
  struct Chunks;
  Object(File& file, std::vector<Message> messages) : file_(&file), messages_(std::move(messages)) {}
  const std::map<std::string_view, uint64_t>& links() const;
  const Message* find(int type) const;
  std::optional<Attribute> attribute(std::string_view name) const;
  // Of a chunked dataset's layout message.
  Chunks chunks(Bytes layout, const Datatype& type, const Shape& shape) const;
  Tensor read_chunks(Bytes layout, const Datatype& type, const Shape& shape) const;

  File* file_;
  std::vector<Message> messages_;
  mutable std::shared_ptr<const std::map<std::string_view, uint64_t>> links_;  // of a group, once they were asked for
};

class File {
 public:
  // `owner` keeps `bytes` alive for the tensors that are read.
  File(Bytes bytes, std::shared_ptr<const void> owner);
  Object root() { return object(root_); }

 private:
  friend class Object;

  // A cursor at `address`, which must lie inside.
  ByteReader at(uint64_t address, const char* what) const;
  uint64_t offset(ByteReader& in) const { return number(in, offset_size_); }
  uint64_t length(ByteReader& in) const { return number(in, length_size_); }
  static uint64_t number(ByteReader& in, int size);
  bool undefined(uint64_t address) const;
  Bytes range(uint64_t address, uint64_t size, const char* what) const;

  Object object(uint64_t address);
  void read_messages_1(uint64_t address, std::vector<Message>* out) const;
  void read_messages_2(uint64_t address, std::vector<Message>* out) const;
  std::map<std::string_view, uint64_t> links(const Object& group) const;
  void read_symbols(uint64_t tree, uint64_t heap, std::map<std::string_view, uint64_t>* out) const;
  void read_link(Bytes content, std::map<std::string_view, uint64_t>* out) const;
  Datatype datatype(ByteReader& in, size_t size) const;
  Shape dataspace(Bytes content) const;
  std::string_view heap_text(ByteReader& in);  // what a 16-byte reference into the global heap names
  Tensor tensor(const Datatype& type, const Shape& shape, Bytes bytes);
  // Counts what is read out of the file: a hostile one could name the same bytes over and over.
  void spend(uint64_t bytes);

  struct HeapObject {
    uint64_t index;
    Bytes content;
  };

  Bytes bytes_;
  std::shared_ptr<const void> owner_;
  int offset_size_ = 8, length_size_ = 8;
  uint64_t root_ = 0, budget_ = 0, heap_budget_ = 0;
  std::map<uint64_t, std::vector<HeapObject>> heaps_;  // by address; sorted by index
};

// True for the eight bytes that an HDF5 file begins with.
bool is_hdf5(Bytes bytes);

}  // namespace dnn::hdf5
