// A graph while a reader makes it: names that stay unique, and the steps that importing an operator takes in every format.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "layout/settle.h"
#include "ops/build.h"

namespace dnn {

struct Draft : GraphSink {
  enum class Name {
    Given,
    Invented
  };  // whether the source has this name; settle_transposes() drops invented ones first

  Graph graph;
  UniqueNames names;          // of all values
  std::set<ValueId> unnamed;  // values with invented names

  // A value called `wanted`, or like it where that is taken.
  ValueId add_value(const std::string& wanted, Name name);
  ValueId add_constant(const std::string& wanted, Tensor tensor, Name name);
  // `wanted`, or `wanted` with the first free _N suffix; taken from now on.
  std::string free_name(const std::string& wanted) { return names.take(wanted); }
  // Gives a value with an invented name the source's; another value, or a constant, goes through an Identity called `node`.
  ValueId rename(ValueId v, const std::string& wanted, const std::string& node);
  // What ends every reader of layouts and names: types inferred, rows put back in place, axis orders settled, pads in the nodes
  // that read them, dead nodes gone, verified.
  Graph finish();

  // For a builder: values get invented names.
  ValueId add_value(const std::string& wanted) override { return add_value(wanted, Name::Invented); }
  ValueId add_constant(const std::string& wanted, Tensor tensor) override {
    return add_constant(wanted, std::move(tensor), Name::Invented);
  }
  void add_node(Node node) override { graph.add_node(std::move(node)); }
  const Value& value(ValueId id) const override { return graph.value(id); }
  void set_type(ValueId id, Type type) override { graph.value(id).type = std::move(type); }
  // A reader's source may state types, and infers the others where it asks for them.
  bool infers() const override { return false; }
};

// Builds the import of one operator of the source. Nodes get its name, values names made from it.
class DraftBuilder : public GraphBuilder {
 public:
  DraftBuilder(Draft& draft, std::string name) : GraphBuilder(draft, std::move(name)), draft_(draft) {}

  // The value under the source's name: see Draft::rename.
  ValueId named(ValueId v, const std::string& wanted) { return draft_.rename(v, wanted, name()); }

 protected:
  Draft& draft() const { return draft_; }

 private:
  Draft& draft_;
};

}  // namespace dnn
