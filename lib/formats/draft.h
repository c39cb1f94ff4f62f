// A graph while a reader makes it: names that stay unique, and the steps that importing an operator takes in every format.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "layout/settle.h"

namespace dnn {

struct Draft {
  enum class Name {
    Given,
    Invented
  };  // whether the source has this name; settle_transposes() drops invented ones first

  Graph graph;
  std::set<std::string> names;  // of all values
  std::set<ValueId> unnamed;    // values with invented names

  std::map<std::string, int> suffixes;  // the last one tried, by name

  // A value called `wanted`, or like it where that is taken.
  ValueId add_value(const std::string& wanted, Name name);
  ValueId add_constant(const std::string& wanted, Tensor tensor, Name name);
  // `wanted`, or `wanted` with the first free _N suffix; taken from now on.
  std::string free_name(const std::string& wanted);
  // Gives a value with an invented name the source's; another value, or a constant, goes through an Identity called `node`.
  ValueId rename(ValueId v, const std::string& wanted, const std::string& node);
  // What ends every reader of layouts and names: types inferred, rows put back in place, axis orders settled, pads in the nodes
  // that read them, dead nodes gone, verified.
  Graph finish();
};

// The steps of importing one operator of the source into a draft. Nodes get its name, values names made from it.
class Steps {
 public:
  Steps(Draft& draft, std::string name) : draft_(draft), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  // A new node of one output, whose name is invented.
  ValueId emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {});
  std::vector<ValueId> emit_many(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                                 size_t outputs);
  ValueId list(const std::vector<int64_t>& values);       // a constant int64[n]
  ValueId number(float value);                            // a constant scalar
  ValueId store(const std::string& what, Tensor tensor);  // a constant called NAME/what
  ValueId transpose(ValueId v, const Permutation& perm);
  ValueId to_dtype(ValueId v, DType dtype);
  // The value under the source's name: see Draft::rename.
  ValueId named(ValueId v, const std::string& wanted) { return draft_.rename(v, wanted, name_); }

 protected:
  Draft& draft() const { return draft_; }

 private:
  Draft& draft_;
  std::string name_;
};

}  // namespace dnn
