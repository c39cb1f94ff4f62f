// Parsing of the text form; see text.h.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "base/base64.h"
#include "graph/tensor_text.h"
#include "graph/text.h"

namespace dnn {
namespace {

// What {x, ...} and random() may make out of a few bytes of text, for the whole file.
constexpr uint64_t kMaxExpandedBytes = uint64_t{256} << 20;
constexpr int kMaxDepth = 32;

enum class Kind { End, Newline, Word, Text, Symbol };

struct Token {
  Kind kind = Kind::End;
  std::string text;  // unescaped
  int line = 1;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
    if (at_ < text_.size() && text_[at_] == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    }
    Token token;
    token.line = line_;
    if (at_ == text_.size()) return token;
    const char c = text_[at_];
    if (c == '\n') {
      ++at_;
      ++line_;
      token.kind = Kind::Newline;
    } else if (c == '"') {
      token.kind = Kind::Text;
      token.text = quoted_text();
    } else if (is_word(c)) {
      token.kind = Kind::Word;
      const size_t begin = at_;
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      token.text = text_.substr(begin, at_ - begin);
    } else {
      token.kind = Kind::Symbol;
      token.text = text_.substr(at_, text_.substr(at_, 2) == "::" ? 2 : 1);
      at_ += token.text.size();
    }
    return token;
  }

  int line() const { return line_; }

 private:
  static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
           c == '/' || c == '-' || c == '+';
  }

  static int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  }

  std::string quoted_text() {
    std::string out;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\n') break;
      if (text_[at_] != '\\') {
        out += text_[at_];
        continue;
      }
      const char escape = ++at_ < text_.size() ? text_[at_] : '\0';
      if (escape == 'n') {
        out += '\n';
      } else if (escape == 't') {
        out += '\t';
      } else if (escape == '"' || escape == '\\') {
        out += escape;
      } else if (escape == 'x' && at_ + 2 < text_.size() && hex(text_[at_ + 1]) >= 0 && hex(text_[at_ + 2]) >= 0) {
        out += static_cast<char>(hex(text_[at_ + 1]) * 16 + hex(text_[at_ + 2]));
        at_ += 2;
      } else {
        fail_malformed("line ", line_, ": unknown escape in a quoted text");
      }
    }
    if (at_ == text_.size() || text_[at_] != '"') fail_malformed("line ", line_, ": a quoted text does not end");
    ++at_;
    return out;
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) { advance(); }

  Graph file() {
    skip_newlines();
    Graph graph = parse_body(0);
    skip_newlines();
    if (token_.kind != Kind::End) fail("the text goes on behind the graph");
    return graph;
  }

 private:
  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    fail_malformed("line ", token_.line, ": ", parts...);
  }

  void advance() { token_ = lexer_.next(); }
  void skip_newlines() {
    while (token_.kind == Kind::Newline) advance();
  }
  bool is(std::string_view symbol) const { return token_.kind == Kind::Symbol && token_.text == symbol; }
  bool is_word(std::string_view word) const { return token_.kind == Kind::Word && token_.text == word; }
  bool accept(std::string_view symbol) {
    if (!is(symbol)) return false;
    advance();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!accept(symbol)) fail("'", symbol, "' expected", found());
  }
  std::string found() const {
    switch (token_.kind) {
      case Kind::End: return ", the text ends";
      case Kind::Newline: return ", the line ends";
      default: return ", found " + dnn::quoted(token_.text);
    }
  }
  std::string take_text() {
    if (token_.kind != Kind::Text) fail("a quoted text expected", found());
    return take();
  }
  std::string take() {
    std::string text = std::move(token_.text);
    advance();
    return text;
  }
  std::string take_name() {
    if (token_.kind != Kind::Text && token_.kind != Kind::Word) fail("a name expected", found());
    return take();
  }
  int64_t take_int() {
    int64_t value = 0;
    if (token_.kind != Kind::Word || !parse_int(token_.text, &value)) fail("an integer expected", found());
    advance();
    return value;
  }

  using Names = std::unordered_map<std::string, ValueId>;

  ValueId define(Graph& graph, Names& names, std::string name, Type type) {
    const ValueId id = graph.add_value(name, std::move(type));
    if (!names.emplace(std::move(name), id).second)
      fail("value ", dnn::quoted(graph.value(id).name), " is defined twice");
    return id;
  }

  ValueId use(const Names& names) {
    const std::string name = take_name();
    const auto found_at = names.find(name);
    if (found_at == names.end()) fail("value ", dnn::quoted(name), " is not defined above");
    return found_at->second;
  }

  // float32[1,batch,?], ?[...], float32?, ??
  Type parse_type() {
    Type type;
    if (!accept("?")) {
      const std::string name = take_name();
      type.dtype = dtype_from_name(name);
      if (type.dtype == DType::Undefined) fail("there is no element type ", dnn::quoted(name));
    }
    if (accept("?")) return type;
    expect("[");
    type.shape.emplace();
    while (!is("]")) {
      if (accept("?")) {
        type.shape->emplace_back();
      } else if (token_.kind == Kind::Text) {
        type.shape->push_back(Dim(take()));
      } else {
        int64_t size = -1;
        const std::string word = take_name();
        if (!parse_int(word, &size)) {
          type.shape->push_back(Dim(word));
        } else if (size < 0) {
          fail("negative extent ", size);
        } else {
          type.shape->emplace_back(size);
        }
      }
      if (!is("]")) expect(",");
    }
    advance();
    return type;
  }

  Type parse_optional_type() { return accept(":") ? parse_type() : Type(); }

  void spend(uint64_t n_bytes) {
    expanded_ += n_bytes;
    if (expanded_ > kMaxExpandedBytes) fail("the constants expand to more than ", kMaxExpandedBytes, " bytes");
  }

  Tensor parse_tensor(const Type& type) {
    if (!type.fixed()) fail("a constant needs a type with every extent, not ", type_text(type));
    const Shape shape = type.fixed_shape();
    const int64_t n = element_count(shape);
    const uint64_t n_bytes = static_cast<uint64_t>(n) > kMaxExpandedBytes
                                 ? UINT64_MAX / 2
                                 : static_cast<uint64_t>(n) * std::max<size_t>(1, dtype_size(type.dtype));
    if (is_word("base64")) {
      advance();
      const std::vector<uint8_t> bytes = base64_decode(take_text());
      if (type.dtype == DType::String || bytes.size() != n_bytes)
        fail(type_text(type), " does not take ", bytes.size(), " bytes");
      if (type.dtype == DType::Bool && !std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b <= 1; }))
        fail("a bool is neither 0 nor 1");
      Tensor tensor(type.dtype, shape);
      if (n_bytes > 0) std::memcpy(tensor.mutable_bytes(), bytes.data(), bytes.size());
      return tensor;
    }
    if (is_word("random")) {
      advance();
      expect("(");
      const auto seed = static_cast<uint64_t>(take_int());
      expect(")");
      spend(n_bytes);
      spend(static_cast<uint64_t>(n) * sizeof(float));  // they are made as float32
      if (!is_float(type.dtype) && !is_integer(type.dtype) && type.dtype != DType::Bool)
        fail("no random ", dtype_name(type.dtype));
      return random_tensor(type.dtype, shape, seed);
    }
    if (is_word("sha256"))
      fail("a constant is given by its SHA-256 only; print the graph with all constants to parse it");
    return parse_elements(type.dtype, shape, n, n_bytes);
  }

  Tensor parse_elements(DType dtype, const Shape& shape, int64_t n, uint64_t n_bytes) {
    expect("{");
    const bool strings = dtype == DType::String;
    const size_t step = dtype_size(dtype);
    std::vector<std::string> texts;
    std::string bytes;
    int64_t count = 0;
    bool repeat = false;
    skip_newlines();
    while (!is("}")) {
      if (is_word("...")) {
        advance();
        skip_newlines();
        repeat = true;
        break;
      }
      if (count == n) fail("more than ", n, " elements");
      if (strings) {
        texts.push_back(take_text());
      } else {
        std::byte element[16] = {};
        if (token_.kind != Kind::Word || !parse_element(dtype, token_.text, element))
          fail("no ", dtype_name(dtype), " element", found());
        advance();
        bytes.append(reinterpret_cast<const char*>(element), step);
      }
      ++count;
      skip_newlines();
      if (!is("}")) {
        expect(",");
        skip_newlines();
      }
    }
    expect("}");
    if (count < n && (!repeat || count == 0)) fail(n, " elements expected, found ", count);
    if (count < n) spend(n_bytes);
    Tensor tensor(dtype, shape);
    for (int64_t i = 0; i < n; ++i) {
      const size_t from = std::min(i, count - 1);
      if (strings) {
        tensor.mutable_strings()[i] = texts[from];
      } else {
        std::memcpy(tensor.mutable_bytes() + static_cast<size_t>(i) * step, bytes.data() + from * step, step);
      }
    }
    return tensor;
  }

  // A number with a point, an exponent, or a name of infinity is a float.
  bool parse_float(float* value) {
    double wide = 0;
    if (token_.kind != Kind::Word || !parse_double(token_.text, &wide)) return false;
    *value = std::strtof(token_.text.c_str(), nullptr);
    advance();
    if (!std::isnan(*value) || !accept("(")) return true;
    const auto bits = static_cast<uint32_t>(take_int());
    std::memcpy(value, &bits, sizeof bits);
    expect(")");
    return true;
  }

  Attribute parse_attribute(int depth) {
    if (is("[")) return parse_list();
    if (token_.kind == Kind::Text) return take();
    int64_t number = 0;
    if (token_.kind == Kind::Word && parse_int(token_.text, &number)) {
      advance();
      return number;
    }
    float real = 0;
    if (parse_float(&real)) return real;
    if (is_word("graph")) return std::make_shared<const Graph>(parse_body(depth + 1));
    if (is_word("ints") || is_word("floats") || is_word("strings") || is_word("tensors")) {
      const std::string word = take();
      expect("[");
      expect("]");
      if (word == "ints") return std::vector<int64_t>();
      if (word == "floats") return std::vector<float>();
      if (word == "strings") return std::vector<std::string>();
      return std::vector<Tensor>();
    }
    const Type type = parse_type();
    return parse_tensor(type);
  }

  Attribute parse_list() {
    expect("[");
    std::vector<int64_t> ints;
    std::vector<float> floats;
    std::vector<std::string> strings;
    std::vector<Tensor> tensors;
    size_t count = 0;
    skip_newlines();
    while (!is("]")) {
      int64_t number = 0;
      float real = 0;
      ++count;
      if (token_.kind == Kind::Text) {
        strings.push_back(take());
      } else if (token_.kind == Kind::Word && parse_int(token_.text, &number)) {
        advance();
        ints.push_back(number);
      } else if (parse_float(&real)) {
        floats.push_back(real);
      } else {
        const Type type = parse_type();
        tensors.push_back(parse_tensor(type));
      }
      skip_newlines();
      if (!is("]")) {
        expect(",");
        skip_newlines();
      }
    }
    expect("]");
    if (count == 0) fail("an empty list needs its type: ints[], floats[], strings[] or tensors[]");
    if (ints.size() == count) return ints;
    if (floats.size() == count) return floats;
    if (strings.size() == count) return strings;
    if (tensors.size() == count) return tensors;
    fail("a list mixes types");
  }

  void parse_node(Graph& graph, Names& names, int depth) {
    Node node;
    std::vector<std::pair<std::string, Type>> outputs;
    std::vector<bool> left_out;
    if (accept("(")) {
      expect(")");
    } else {
      do {
        left_out.push_back(is_word("_"));
        std::string name = take_name();
        outputs.emplace_back(std::move(name), parse_optional_type());
      } while (accept(","));
    }
    expect("=");
    node.op = take_name();
    if (accept("::")) {
      node.domain = std::move(node.op);
      node.op = take_name();
    }
    expect("(");
    skip_newlines();
    while (!is(")")) {
      if (is_word("_")) {
        advance();
        node.inputs.push_back(kNoValue);
      } else {
        node.inputs.push_back(use(names));
      }
      skip_newlines();
      if (!is(")")) {
        expect(",");
        skip_newlines();
      }
    }
    expect(")");
    if (accept("@")) node.name = take_name();
    if (accept("{")) {
      skip_newlines();
      while (!is("}")) {
        const std::string key = take_name();
        expect("=");
        if (!node.attributes.emplace(key, parse_attribute(depth)).second)
          fail("attribute ", dnn::quoted(key), " is given twice");
        skip_newlines();
        if (!is("}")) {
          expect(",");
          skip_newlines();
        }
      }
      expect("}");
    }
    if (is_word("from")) {
      do {
        advance();
        node.sources.push_back(take_text());
      } while (is(","));
    }
    if (is_word("doc")) {
      advance();
      node.doc = take_text();
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      node.outputs.push_back(
          left_out[i] ? kNoValue : define(graph, names, std::move(outputs[i].first), std::move(outputs[i].second)));
    }
    graph.add_node(std::move(node));
  }

  void parse_statement(Graph& graph, Names& names, int depth) {
    const std::string word = token_.kind == Kind::Word ? token_.text : "";
    if (word == "opset") {
      advance();
      const std::string domain = token_.kind == Kind::Text ? take() : "";
      graph.source_opsets[domain] = take_int();
    } else if (word == "producer") {
      advance();
      graph.producer = take_text();
    } else if (word == "doc") {
      advance();
      graph.doc = take_text();
    } else if (word == "metadata") {
      advance();
      std::string key = take_text();
      graph.metadata.emplace_back(std::move(key), take_text());
    } else if (word == "input" || word == "capture") {
      advance();
      std::string name = take_name();
      const ValueId id = define(graph, names, std::move(name), parse_optional_type());
      (word == "input" ? graph.inputs : graph.captures).push_back(id);
    } else if (word == "const") {
      advance();
      std::string name = take_name();
      expect(":");
      const Type type = parse_type();
      expect("=");
      const ValueId id = define(graph, names, std::move(name), type);
      graph.value(id).constant = parse_tensor(type);
    } else if (word == "output") {
      advance();
      graph.outputs.push_back(use(names));
    } else if (word == "alias") {
      advance();
      const ValueId id = use(names);
      graph.value(id).aliases.push_back(take_text());
    } else if (word == "layout") {
      advance();
      const ValueId id = use(names);
      graph.value(id).layout = take_text();
    } else if (word == "describe") {
      advance();
      const ValueId id = use(names);
      graph.value(id).doc = take_text();
    } else {
      parse_node(graph, names, depth);
    }
    if (!is("}") && token_.kind != Kind::Newline) fail("the end of the line expected", found());
  }

  Graph parse_body(int depth) {
    if (depth > kMaxDepth) fail("graphs nest deeper than ", kMaxDepth);
    if (!is_word("graph")) fail("'graph' expected", found());
    advance();
    Graph graph;
    Names names;
    if (token_.kind == Kind::Text) graph.name = take();
    expect("{");
    skip_newlines();
    while (!is("}")) {
      parse_statement(graph, names, depth);
      skip_newlines();
    }
    expect("}");
    try {
      verify(graph);
    } catch (Error& error) {
      throw error.within(cat("line ", token_.line));
    }
    return graph;
  }

  Lexer lexer_;
  Token token_;
  uint64_t expanded_ = 0;
};

}  // namespace

Graph parse_graph(std::string_view text) { return Parser(text).file(); }

}  // namespace dnn
