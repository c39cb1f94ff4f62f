// Pickles as trees: an unpickler that runs nothing. What a pickle would call stays a node that names it; every global must be
// on the caller's list, so that a file which wants more is refused with the name of what it wanted.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace dnn::pickle {

enum class Kind : uint8_t {
  None,
  Bool,
  Int,
  BigInt,
  Float,
  String,
  ByteString,
  Tuple,
  List,
  Dict,
  Global,
  Call,
  Persistent
};

using Ref = int32_t;
inline constexpr Ref kNone = -1;

// One value. Values are shared by index, as the pickle's memo shares them; there is no cycle.
struct Node {
  Kind kind = Kind::None;
  int64_t integer = 0;    // Bool, Int
  double real = 0;        // Float
  std::string_view text;  // String, ByteString; BigInt: little-endian bytes; Global: "module name"
  // Tuple, List: items. Dict: key, value, key, value... Persistent: the id. Call: callable, arguments, state (kNone without
  // BUILD), then keys and values set on the result.
  std::vector<Ref> items;
};

class Tree {
 public:
  const Node& operator[](Ref ref) const { return nodes_[ref]; }
  size_t size() const { return nodes_.size(); }
  Ref root = kNone;

  // "module name" of what a Call calls, of a Global itself; else "".
  std::string_view callee(Ref ref) const;
  bool is(Ref ref, Kind kind) const { return (*this)[ref].kind == kind; }
  // The value of a text key in a Dict, or in a Call that was filled like one; kNone where there is none.
  Ref find(Ref dict, std::string_view key) const;
  // Keys and values of a Dict, or of a Call that was filled like one.
  std::vector<std::pair<Ref, Ref>> pairs(Ref ref) const;
  // The number of an Int or Bool. Malformed naming `what` for others.
  int64_t integer(Ref ref, std::string_view what) const;
  // The text of a String. Malformed naming `what` for others.
  std::string_view text(Ref ref, std::string_view what) const;
  // A Tuple's or List's items. Malformed naming `what` for others.
  const std::vector<Ref>& list(Ref ref, std::string_view what) const;

 private:
  friend class Unpickler;
  std::vector<Node> nodes_;
  std::deque<std::string> texts_;  // of the old text opcodes, which need not lie in the file as they are
};

// Throws Unsupported for a global that the caller's format does not know.
using CheckGlobal = void (*)(std::string_view module, std::string_view name);

// One pickle of protocol 0 to 4 from `bytes`, which must outlive the tree; `*end`: where it ends. Throws Malformed for damage,
// cycles and trees deeper than 256, Unsupported for opcodes and globals that are not on the lists.
Tree parse(Bytes bytes, CheckGlobal check, size_t* end = nullptr);

}  // namespace dnn::pickle
