// Graphs, statements and nodes of the text form; see text.h.
#include <unordered_map>

#include "graph/text.h"
#include "graph/text_reader.h"
#include "graph/text_values.h"

namespace dnn {
namespace {

constexpr int kMaxDepth = 32;

using Kind = TextToken::Kind;

// One graph, with those in its attributes.
class BodyParser {
 public:
  // `reader` and `values` are those of the file.
  BodyParser(TextReader& reader, ValueParser& values, int depth) : reader_(reader), values_(values), depth_(depth) {}

  Graph run() {
    if (depth_ > kMaxDepth) reader_.fail("graphs nest deeper than ", kMaxDepth);
    if (!reader_.is_word("graph")) reader_.fail("'graph' expected", reader_.found());
    reader_.advance();
    if (reader_.is(Kind::Text)) graph_.name = reader_.take();
    reader_.expect("{");
    reader_.skip_newlines();
    while (!reader_.is("}")) {
      parse_statement();
      reader_.skip_newlines();
    }
    reader_.expect("}");
    try {
      verify(graph_);
    } catch (Error& error) {
      throw error.within(cat("line ", reader_.token().line));
    }
    return std::move(graph_);
  }

 private:
  ValueId define(std::string name, Type type) {
    const ValueId id = graph_.add_value(name, std::move(type));
    if (!names_.emplace(std::move(name), id).second)
      reader_.fail("value ", quoted(graph_.value(id).name), " is defined twice");
    return id;
  }

  ValueId use() {
    const std::string name = reader_.take_name();
    const auto found = names_.find(name);
    if (found == names_.end()) reader_.fail("value ", quoted(name), " is not defined above");
    return found->second;
  }

  Type parse_optional_type() { return reader_.accept(":") ? parse_type(reader_) : Type(); }

  void parse_statement() {
    const std::string word = reader_.is(Kind::Word) ? reader_.token().text : "";
    if (!parse_header(word) && !parse_value(word) && !parse_remark(word)) parse_node();
    if (!reader_.is("}") && !reader_.is(Kind::Newline)) reader_.fail("the end of the line expected", reader_.found());
  }

  // Statements about the whole graph. False where `word` begins no such statement.
  bool parse_header(const std::string& word) {
    if (word == "opset") {
      reader_.advance();
      const std::string domain = reader_.is(Kind::Text) ? reader_.take() : "";
      graph_.source_opsets[domain] = reader_.take_int();
    } else if (word == "producer") {
      reader_.advance();
      graph_.producer = reader_.take_text();
    } else if (word == "doc") {
      reader_.advance();
      graph_.doc = reader_.take_text();
    } else if (word == "metadata") {
      reader_.advance();
      std::string key = reader_.take_text();
      graph_.metadata.emplace_back(std::move(key), reader_.take_text());
    } else {
      return false;
    }
    return true;
  }

  // Inputs, captures, constants and outputs.
  bool parse_value(const std::string& word) {
    if (word == "input" || word == "capture") {
      reader_.advance();
      std::string name = reader_.take_name();
      const ValueId id = define(std::move(name), parse_optional_type());
      (word == "input" ? graph_.inputs : graph_.captures).push_back(id);
    } else if (word == "const") {
      reader_.advance();
      std::string name = reader_.take_name();
      reader_.expect(":");
      const Type type = parse_type(reader_);
      reader_.expect("=");
      const ValueId id = define(std::move(name), type);
      graph_.value(id).constant = values_.tensor(type);
    } else if (word == "output") {
      reader_.advance();
      graph_.outputs.push_back(use());
    } else {
      return false;
    }
    return true;
  }

  // More about a value.
  bool parse_remark(const std::string& word) {
    if (word != "alias" && word != "layout" && word != "describe") return false;
    reader_.advance();
    Value& value = graph_.value(use());
    std::string text = reader_.take_text();
    if (word == "alias") {
      value.aliases.push_back(std::move(text));
    } else {
      (word == "layout" ? value.layout : value.doc) = std::move(text);
    }
    return true;
  }

  struct Output {
    std::string name;
    Type type;
    bool left_out = false;
  };

  void parse_node() {
    Node node;
    std::vector<Output> outputs = parse_outputs();
    reader_.expect("=");
    node.op = reader_.take_name();
    if (reader_.accept("::")) {
      node.domain = std::move(node.op);
      node.op = reader_.take_name();
    }
    reader_.expect("(");
    reader_.items(")", [&] { node.inputs.push_back(parse_input()); });
    if (reader_.accept("@")) node.name = reader_.take_name();
    if (reader_.accept("{")) reader_.items("}", [&] { parse_attribute(node); });
    if (reader_.is_word("from")) {
      do {
        reader_.advance();
        node.sources.push_back(reader_.take_text());
      } while (reader_.is(","));
    }
    if (reader_.is_word("doc")) {
      reader_.advance();
      node.doc = reader_.take_text();
    }
    for (Output& output : outputs)
      node.outputs.push_back(output.left_out ? kNoValue : define(std::move(output.name), std::move(output.type)));
    graph_.add_node(std::move(node));
  }

  std::vector<Output> parse_outputs() {
    std::vector<Output> outputs;
    if (reader_.accept("(")) {
      reader_.expect(")");
      return outputs;
    }
    do {
      Output output;
      output.left_out = reader_.is_word("_");
      output.name = reader_.take_name();
      output.type = parse_optional_type();
      outputs.push_back(std::move(output));
    } while (reader_.accept(","));
    return outputs;
  }

  ValueId parse_input() {
    if (!reader_.is_word("_")) return use();
    reader_.advance();
    return kNoValue;
  }

  void parse_attribute(Node& node) {
    const std::string key = reader_.take_name();
    reader_.expect("=");
    Attribute value = reader_.is_word("graph")
                          ? std::make_shared<const Graph>(BodyParser(reader_, values_, depth_ + 1).run())
                          : values_.attribute();
    if (!node.attributes.emplace(key, std::move(value)).second)
      reader_.fail("attribute ", quoted(key), " is given twice");
  }

  TextReader& reader_;
  ValueParser& values_;
  const int depth_;
  Graph graph_;
  std::unordered_map<std::string, ValueId> names_;
};

}  // namespace

Graph parse_graph(std::string_view text) {
  TextReader reader(text);
  ValueParser values(reader);
  reader.skip_newlines();
  Graph graph = BodyParser(reader, values, 0).run();
  reader.skip_newlines();
  if (!reader.is(Kind::End)) reader.fail("the text goes on behind the graph");
  return graph;
}

}  // namespace dnn
