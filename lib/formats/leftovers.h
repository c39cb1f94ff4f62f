// Leftovers: fields of a file that its reader did not take. None is passed over in silence.
#pragma once
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dnn {

// A field that cannot change a result; one row of a format's table, which says why.
struct IrrelevantField {
  const char* owners;  // operators or layer classes, space-separated; "*": all
  const char* name;
  const char* values;  // the values, space-separated as the format's reader prints them, that change nothing; "": all
  const char* reason;
};
using IrrelevantFields = std::vector<IrrelevantField>;

// Fields that a person says to ignore, however they are used: "NAME", or "OWNER.NAME" of one operator or layer class.
// Copies share which of them a reader met.
class IgnoredFields {
 public:
  IgnoredFields(const std::vector<std::string>& names = {});
  IgnoredFields(std::initializer_list<std::string> names) : IgnoredFields(std::vector<std::string>(names)) {}
  bool empty() const { return names_->empty(); }
  // Asked only of a field that its reader would refuse.
  bool holds(const std::string& owner, const std::string& name) const;
  std::vector<std::string> not_met() const;

 private:
  struct Name {
    std::string text;
    bool met = false;
  };
  std::shared_ptr<std::vector<Name>> names_;
};
bool is_ignored(const IgnoredFields& ignored, const std::string& owner, const std::string& name);

// The fields of one node or layer. A reader gets at them only through a view that calls use(), so that what it forgets is found.
class Leftovers {
 public:
  using Show = std::function<std::string(const std::string& name)>;  // a field's value as text, "" where it has none

  void add(std::string name) { fields_.emplace_back(std::move(name), false); }  // one that the file states
  void use(std::string_view name);                                              // all of that name
  // The same as use() for those of a table of the format, and for those that a person named.
  void irrelevant(const std::string& owner, const IrrelevantFields& table, const Show& value = nullptr);
  void ignore(const std::string& owner, const IgnoredFields& names);
  std::vector<std::string> left() const;
  // Throws Unsupported where a field is left: "LABEL: attribute "x" is 3, which is not read; ...".
  // An empty label is left out; `kind` is what the format calls a field.
  void finish(const std::string& label, const char* kind = "attribute", const Show& value = nullptr) const;

 private:
  std::vector<std::pair<std::string, bool>> fields_;  // name, used
};

}  // namespace dnn
