// The stack machine of Python's pickletools, protocols 0 to 4; see pickle.h.
#include "formats/wire/pickle.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace dnn::pickle {
namespace {

// A tree of more values is no model's; this many fill about 200 MB.
constexpr size_t kMaxNodes = 2'000'000;
constexpr int kMaxPickleDepth = 256;
constexpr Ref kMark = -2;

double big_endian_double(Bytes bytes) {
  uint64_t bits = 0;
  for (std::byte b : bytes) bits = bits << 8 | static_cast<uint64_t>(b);
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Every path from the root ends within kMaxPickleDepth steps: whoever walks the tree may recurse.
void check_depth(const Tree& tree) {
  constexpr int kOpen = -1;
  std::vector<int> depth(tree.size(), 0);  // of the tree below; 0: not seen
  std::vector<std::pair<Ref, size_t>> path = {{tree.root, 0}};
  depth[tree.root] = kOpen;
  while (!path.empty()) {
    auto& [ref, next] = path.back();
    const std::vector<Ref>& items = tree[ref].items;
    if (next < items.size()) {
      const Ref child = items[next++];
      if (child == kNone) continue;
      int& d = depth[child];
      if (d == kOpen) fail_malformed("pickle: a value that holds itself");
      if (d != 0) continue;
      d = kOpen;
      path.emplace_back(child, 0);
      continue;
    }
    int deepest = 0;
    for (Ref child : items) {
      if (child != kNone) deepest = std::max(deepest, depth[child]);
    }
    if (deepest >= kMaxPickleDepth) fail_malformed("pickle: values are nested deeper than ", kMaxPickleDepth);
    depth[ref] = deepest + 1;
    path.pop_back();
  }
}

}  // namespace

class Unpickler {
 public:
  Unpickler(Bytes bytes, CheckGlobal check) : in_(bytes, "pickle"), check_(check) {}

  Tree run(size_t* end) {
    while (step(in_.u8())) {
    }
    if (end != nullptr) *end = in_.position();
    check_depth(tree_);
    return std::move(tree_);
  }

 private:
  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    fail_malformed("pickle: byte ", at_, ": ", parts...);
  }

  // false: the end
  bool step(uint8_t op) {
    at_ = in_.position() - 1;
    switch (op) {
      case 0x80:  // PROTO
        if (const uint8_t version = in_.u8(); version > 4)
          fail_unsupported("pickle: protocol ", int{version}, "; 4 is the last read");
        return true;
      case 0x95: in_.u64(); return true;  // FRAME
      case '.': tree_.root = pop(); return false;
      case '(': stack_.push_back(kMark); return true;
      case '0': drop(); return true;
      case '1': pop_mark(); return true;
      case '2': stack_.push_back(top()); return true;
      default: break;
    }
    if (push_value(op) || collect(op) || make_object(op) || use_memo(op)) return true;
    if (op == 'P' || (op >= 0x82 && op <= 0x84))  // PERSID, EXT1 to EXT4
      fail_unsupported("pickle: byte ", at_, ": opcode 0x", hex(op), " is not read");
    fail("0x", hex(op), " is no opcode");
  }

  // Each of the following does what the opcode says, if it is one of its kind.
  bool push_value(uint8_t op) {
    switch (op) {
      case 'N': push(Kind::None); return true;
      case 0x88: push_int(Kind::Bool, 1); return true;
      case 0x89: push_int(Kind::Bool, 0); return true;
      case 'J': push_int(Kind::Int, in_.little_endian<int32_t>()); return true;
      case 'K': push_int(Kind::Int, in_.u8()); return true;
      case 'M': push_int(Kind::Int, in_.u16()); return true;
      case 0x8a: push_long(in_.take(in_.u8())); return true;
      case 0x8b: push_long(in_.take(in_.u32())); return true;
      case 'I': text_int(); return true;
      case 'L': text_int(); return true;
      case 'G': tree_.nodes_[push(Kind::Float)].real = big_endian_double(in_.take(8)); return true;
      case 'F': text_float(); return true;
      case 'S': push_text(Kind::String, unquoted(line())); return true;
      case 'V': push_text(Kind::String, line()); return true;
      case 'X': push_text(Kind::String, as_text(in_.take(in_.u32()))); return true;
      case 0x8c: push_text(Kind::String, as_text(in_.take(in_.u8()))); return true;
      case 0x8d: push_text(Kind::String, as_text(in_.take(in_.u64()))); return true;
      case 'T': push_text(Kind::String, as_text(in_.take(in_.u32()))); return true;
      case 'U': push_text(Kind::String, as_text(in_.take(in_.u8()))); return true;
      case 'B': push_text(Kind::ByteString, as_text(in_.take(in_.u32()))); return true;
      case 'C': push_text(Kind::ByteString, as_text(in_.take(in_.u8()))); return true;
      case 0x8e: push_text(Kind::ByteString, as_text(in_.take(in_.u64()))); return true;
      default: return false;
    }
  }
  bool collect(uint8_t op) {
    switch (op) {
      case ')': push(Kind::Tuple); return true;
      case 't': push_items(Kind::Tuple, pop_mark()); return true;
      case 0x85: push_last(1); return true;
      case 0x86: push_last(2); return true;
      case 0x87: push_last(3); return true;
      case ']':
      case 0x8f: push(Kind::List); return true;  // EMPTY_LIST, EMPTY_SET
      case 'l':
      case 0x91: push_items(Kind::List, pop_mark()); return true;  // LIST, FROZENSET
      case 'a': append({pop()}); return true;
      case 'e':
      case 0x90: append(pop_mark()); return true;  // APPENDS, ADDITEMS
      case '}': push(Kind::Dict); return true;
      case 'd': push_items(Kind::Dict, even(pop_mark())); return true;
      case 's': set_item(); return true;
      case 'u': set_items(even(pop_mark())); return true;
      default: return false;
    }
  }
  bool make_object(uint8_t op) {
    switch (op) {
      case 'c': global(); return true;
      case 0x93: stack_global(); return true;
      case 'i': instance(); return true;
      case 'o': old_object(); return true;
      case 'R':
      case 0x81: call(false); return true;  // REDUCE, NEWOBJ
      case 0x92: call(true); return true;   // NEWOBJ_EX
      case 'b': build(); return true;
      case 'Q': push_items(Kind::Persistent, {pop()}); return true;
      default: return false;
    }
  }
  bool use_memo(uint8_t op) {
    switch (op) {
      case 'q': memo_[in_.u8()] = top(); return true;
      case 'r': memo_[in_.u32()] = top(); return true;
      case 'p': memo_[memo_line()] = top(); return true;
      case 0x94: {
        const Ref value = top();
        memo_[static_cast<uint32_t>(memo_.size())] = value;
        return true;
      }
      case 'h': recall(in_.u8()); return true;
      case 'j': recall(in_.u32()); return true;
      case 'g': recall(memo_line()); return true;
      default: return false;
    }
  }

  static std::string hex(uint8_t op) {
    constexpr const char* kDigits = "0123456789abcdef";
    return {kDigits[op >> 4], kDigits[op & 15]};
  }

  size_t add(Kind kind) {
    if (tree_.nodes_.size() >= kMaxNodes) fail_unsupported("pickle: more than ", kMaxNodes, " values");
    tree_.nodes_.emplace_back();
    tree_.nodes_.back().kind = kind;
    return tree_.nodes_.size() - 1;
  }
  size_t push(Kind kind) {
    const size_t i = add(kind);
    stack_.push_back(static_cast<Ref>(i));
    return i;
  }
  void push_int(Kind kind, int64_t value) { tree_.nodes_[push(kind)].integer = value; }
  void push_text(Kind kind, std::string_view text) { tree_.nodes_[push(kind)].text = text; }
  void push_items(Kind kind, std::vector<Ref> items) { tree_.nodes_[push(kind)].items = std::move(items); }
  void push_long(Bytes bytes) {
    if (bytes.size() > 8) return push_text(Kind::BigInt, as_text(bytes));
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i) value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
    if (!bytes.empty() && bytes.size() < 8 && (static_cast<uint8_t>(bytes.back()) & 0x80) != 0)
      value |= ~uint64_t{0} << (8 * bytes.size());
    push_int(Kind::Int, static_cast<int64_t>(value));
  }
  void push_last(size_t n) {
    std::vector<Ref> items(n);
    for (size_t i = n; i-- > 0;) items[i] = pop();
    push_items(Kind::Tuple, std::move(items));
  }

  Ref top() const {
    if (stack_.empty() || stack_.back() == kMark) fail("the stack is empty");
    return stack_.back();
  }
  Ref pop() {
    const Ref value = top();
    stack_.pop_back();
    return value;
  }
  void drop() {
    if (stack_.empty()) fail("the stack is empty");
    stack_.pop_back();
  }
  std::vector<Ref> pop_mark() {
    const auto mark = std::find(stack_.rbegin(), stack_.rend(), kMark);
    if (mark == stack_.rend()) fail("there is no mark");
    std::vector<Ref> items(mark.base(), stack_.end());
    stack_.erase(std::prev(mark.base()), stack_.end());
    return items;
  }
  std::vector<Ref> even(std::vector<Ref> items) const {
    if (items.size() % 2 != 0) fail("a key without a value");
    return items;
  }

  std::string_view line() {
    const size_t start = in_.position();
    while (in_.u8() != '\n') {
    }
    const size_t end = in_.position();
    in_.seek(start);
    const std::string_view text = as_text(in_.take(end - start));
    return text.substr(0, text.size() - 1);
  }
  std::string_view unquoted(std::string_view text) const {
    if (text.size() < 2 || text.front() != text.back() || (text.front() != '\'' && text.front() != '"'))
      fail("a text without quotes");
    return text.substr(1, text.size() - 2);
  }
  void text_int() {
    std::string_view text = line();
    if (text == "00" || text == "01") return push_int(Kind::Bool, text[1] - '0');
    if (!text.empty() && text.back() == 'L') text.remove_suffix(1);
    int64_t value = 0;
    if (parse_int(text, &value)) return push_int(Kind::Int, value);
    if (text.empty() || text.find_first_not_of("-0123456789") != std::string_view::npos) fail("no integer");
    push_text(Kind::BigInt, {});
  }
  void text_float() {
    double value = 0;
    if (!parse_double(line(), &value)) fail("no number");
    tree_.nodes_[push(Kind::Float)].real = value;
  }
  uint32_t memo_line() {
    int64_t key = 0;
    if (!parse_int(line(), &key) || key < 0 || key > UINT32_MAX) fail("no place of the memo");
    return static_cast<uint32_t>(key);
  }
  void recall(uint32_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) fail("place ", key, " of the memo is empty");
    stack_.push_back(found->second);
  }

  // A list, or a call that makes one.
  void append(const std::vector<Ref>& values) {
    Node& list = tree_.nodes_[top()];
    if (list.kind != Kind::List) fail("what is appended to is no list");
    list.items.insert(list.items.end(), values.begin(), values.end());
  }
  void set_items(const std::vector<Ref>& values) {
    Node& dict = tree_.nodes_[top()];
    if (dict.kind != Kind::Dict && dict.kind != Kind::Call) fail("what gets keys is no dictionary");
    dict.items.insert(dict.items.end(), values.begin(), values.end());
  }
  void set_item() {
    const Ref value = pop(), key = pop();
    set_items({key, value});
  }

  void push_global(std::string_view module, std::string_view name) {
    check_(module, name);
    tree_.texts_.push_back(cat(module, " ", name));
    push_text(Kind::Global, tree_.texts_.back());
  }
  void global() {
    const std::string_view module = line();
    push_global(module, line());
  }
  void stack_global() {
    const Ref name = pop(), module = pop();
    if (!tree_.is(name, Kind::String) || !tree_.is(module, Kind::String)) fail("a global whose name is no text");
    push_global(tree_[module].text, tree_[name].text);
  }
  void call(bool keywords) {
    if (keywords && !tree_[pop()].items.empty())
      fail_unsupported("pickle: byte ", at_, ": a call with keywords is not read");
    const Ref arguments = pop(), callable = pop();
    make_call(callable, arguments);
  }
  void make_call(Ref callable, Ref arguments) {
    if (!tree_.is(callable, Kind::Global)) fail("what is called is no global");
    if (!tree_.is(arguments, Kind::Tuple)) fail("the arguments of ", tree_[callable].text, " are no tuple");
    push_items(Kind::Call, {callable, arguments, kNone});
  }
  void instance() {
    const std::string_view module = line();
    const std::string_view name = line();
    std::vector<Ref> items = pop_mark();
    push_global(module, name);
    push_items(Kind::Tuple, std::move(items));
    call(false);
  }
  void old_object() {
    std::vector<Ref> items = pop_mark();
    if (items.empty()) fail("an object without a class");
    const Ref callable = items[0];
    items.erase(items.begin());
    push_items(Kind::Tuple, std::move(items));
    const Ref arguments = pop();
    make_call(callable, arguments);
  }
  void build() {
    const Ref state = pop();
    Node& object = tree_.nodes_[top()];
    if (object.kind != Kind::Call) fail("what gets a state is no object");
    if (object.items[2] != kNone) fail("a second state of one object");
    object.items[2] = state;
  }

  ByteReader in_;
  CheckGlobal check_;
  Tree tree_;
  std::vector<Ref> stack_;
  std::unordered_map<uint32_t, Ref> memo_;
  size_t at_ = 0;  // of the opcode in hand
};

Tree parse(Bytes bytes, CheckGlobal check, size_t* end) { return Unpickler(bytes, check).run(end); }

std::string_view Tree::callee(Ref ref) const {
  const Node& node = (*this)[ref];
  if (node.kind == Kind::Global) return node.text;
  return node.kind == Kind::Call ? (*this)[node.items[0]].text : std::string_view();
}

std::vector<std::pair<Ref, Ref>> Tree::pairs(Ref ref) const {
  const Node& node = (*this)[ref];
  std::vector<std::pair<Ref, Ref>> result;
  if (node.kind != Kind::Dict && node.kind != Kind::Call) return result;
  for (size_t i = node.kind == Kind::Call ? 3 : 0; i + 1 < node.items.size(); i += 2)
    result.emplace_back(node.items[i], node.items[i + 1]);
  return result;
}

Ref Tree::find(Ref dict, std::string_view key) const {
  const Node& node = (*this)[dict];
  if (node.kind != Kind::Dict && node.kind != Kind::Call) return kNone;
  for (size_t i = node.kind == Kind::Call ? 3 : 0; i + 1 < node.items.size(); i += 2) {
    if (is(node.items[i], Kind::String) && (*this)[node.items[i]].text == key) return node.items[i + 1];
  }
  return kNone;
}

int64_t Tree::integer(Ref ref, std::string_view what) const {
  const Node& node = (*this)[ref];
  if (node.kind != Kind::Int && node.kind != Kind::Bool) fail_malformed("pickle: ", what, " is no integer");
  return node.integer;
}

std::string_view Tree::text(Ref ref, std::string_view what) const {
  if (!is(ref, Kind::String)) fail_malformed("pickle: ", what, " is no text");
  return (*this)[ref].text;
}

const std::vector<Ref>& Tree::list(Ref ref, std::string_view what) const {
  if (!is(ref, Kind::Tuple) && !is(ref, Kind::List)) fail_malformed("pickle: ", what, " is no list");
  return (*this)[ref].items;
}

}  // namespace dnn::pickle
