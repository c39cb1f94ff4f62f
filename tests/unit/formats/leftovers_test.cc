// Leftovers: what a reader did not take is refused by name, unless a table or a person says why not.
#include "formats/leftovers.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace dnn {
namespace {

Leftovers of(std::initializer_list<const char*> names) {
  Leftovers result;
  for (const char* name : names) result.add(name);
  return result;
}

std::string refusal(const Leftovers& leftovers, const Leftovers::Show& value = nullptr) {
  try {
    leftovers.finish("node 'n' (Op)", "attribute", value);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    return error.what();
  }
  return "";
}

TEST(Leftovers, NamesWhatWasNotUsed) {
  Leftovers leftovers = of({"a", "b", "c\n"});
  leftovers.use("a");
  leftovers.use("absent");
  EXPECT_EQ(leftovers.left(), (std::vector<std::string>{"b", "c\n"}));
  const std::string text = refusal(leftovers, [](const std::string& name) { return name == "b" ? "3" : ""; });
  EXPECT_EQ(text,
            "node 'n' (Op): attribute \"b\" = 3, attribute \"c\\n\" are not read; "
            "dnn-convert --ignore-attribute NAME reads the model without it");
  leftovers.use("b");
  leftovers.use("c\n");
  EXPECT_EQ(refusal(leftovers), "");
}

TEST(Leftovers, TableCountsForItsOwnersAndValues) {
  const IrrelevantFields table = {{"*", "name", "", "says who"}, {"Op Other", "mode", "0 off", "the default"}};
  const auto off = [](const std::string&) { return "off"; };
  const auto on = [](const std::string&) { return "on"; };
  for (const char* owner : {"Op", "Other", "Third"}) {
    Leftovers leftovers = of({"name", "mode"});
    leftovers.irrelevant(owner, table, on);
    EXPECT_EQ(leftovers.left(), std::vector<std::string>{"mode"}) << owner;
    leftovers.irrelevant(owner, table, off);
    EXPECT_EQ(leftovers.left().empty(), owner != std::string("Third")) << owner;
  }
  Leftovers leftovers = of({"mode"});
  leftovers.irrelevant("Op", table);  // no value can be shown, so none is known to be harmless
  EXPECT_FALSE(leftovers.left().empty());
}

TEST(Leftovers, PersonIgnoresByNameOrByOwnerAndName) {
  for (const char* name : {"mode", "Op.mode"}) {
    Leftovers leftovers = of({"mode"});
    leftovers.ignore("Op", {name});
    EXPECT_TRUE(leftovers.left().empty()) << name;
  }
  const IgnoredFields names = {"mode", "Op.axis", "Op.mode", "absent"};
  Leftovers used = of({"mode", "axis", "absent"});
  used.use("absent");  // read as ever, so that the person's word changes nothing
  used.ignore("Op", names);
  EXPECT_EQ(names.not_met(), std::vector<std::string>{"absent"});
  EXPECT_EQ(IgnoredFields(names).not_met(), names.not_met());
  for (const char* name : {"mod", "Other.mode", "Op", "Op.", ""}) {
    Leftovers leftovers = of({"mode"});
    leftovers.ignore("Op", {name});
    EXPECT_FALSE(leftovers.left().empty()) << name;
  }
}

}  // namespace
}  // namespace dnn
