// Options and arguments as a user types them.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "cli/cli.h"

namespace dnn::cli {
namespace {

struct Options {
  std::string model;
  std::vector<std::string> inputs, outputs;
  bool fast = false;
  int opt = 2;
  double scale = 0.5;
  std::optional<double> atol;
  std::optional<std::string> json;
  std::string layout = "NCHW";
  int threads = 0;
  uint64_t seed = 0;
};

Args::Outcome parse(std::vector<std::string> words, Options* o) {
  words.insert(words.begin(), "dnn-test");
  Args args(words);
  args.positional(&o->model, "MODEL", "a model");
  args.positionals(&o->inputs, "INPUT", "images", 0);
  args.flag(&o->fast, "--fast", "faster");
  args.option(&o->opt, "-O,--opt", "N", "level", -1);
  args.option(&o->scale, "--scale", "X", "factor");
  args.option(&o->atol, "--atol", "X", "bound", 0);
  args.optional_value(&o->json, "--json", "FILE", "-", "as JSON");
  args.choice(&o->layout, "--layout", {"NCHW", "NHWC"}, "axes");
  args.list(&o->outputs, "--output-name", "NAME", "outputs");
  args.threads(&o->threads);
  args.seed(&o->seed);
  return args.parse();
}

Options parsed(const std::vector<std::string>& words) {
  Options o;
  EXPECT_EQ(parse(words, &o), Args::Outcome::Work);
  return o;
}

std::string refusal(const std::vector<std::string>& words) {
  Options o;
  try {
    parse(words, &o);
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), 2);
    return e.what();
  }
  return "accepted";
}

TEST(Args, DefaultsStay) {
  const Options o = parsed({"m.onnx"});
  EXPECT_EQ(o.model, "m.onnx");
  EXPECT_TRUE(o.inputs.empty());
  EXPECT_EQ(o.opt, 2);
  EXPECT_FALSE(o.atol.has_value());
  EXPECT_FALSE(o.json.has_value());
}

TEST(Args, ValuesComeGluedSpacedOrWithEquals) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"-O3", "m"}, {"-O", "3", "m"}, {"--opt=3", "m"}, {"m", "--opt", "3"}}) {
    const Options o = parsed(words);
    EXPECT_EQ(o.opt, 3);
    EXPECT_EQ(o.model, "m");
  }
  EXPECT_EQ(parsed({"m", "--scale", "-1.5e-3"}).scale, -1.5e-3);
  EXPECT_EQ(parsed({"m", "--scale=-2"}).scale, -2);
  EXPECT_EQ(parsed({"m", "-O1", "-O4"}).opt, 4);
}

// A pattern such as * may bring a file of that name.
TEST(Args, AFileIsNoOption) {
  EXPECT_EQ(parsed({"--fast", "m"}).fast, true);
  for (const char* const name : {"--fast", "-O3", "--json=x"}) {
    write_file(name, "");
    EXPECT_NE(refusal({"m", name}).find(cat("write ./", name)), std::string::npos) << name;
    EXPECT_EQ(parsed({"--", "m", name}).inputs, std::vector<std::string>{name});
    EXPECT_EQ(parsed({"m", cat("./", name)}).inputs, std::vector<std::string>{cat("./", name)});
    std::filesystem::remove(name);
  }
}

TEST(Args, AnOptionalValueNeverTakesTheNextArgument) {
  const Options bare = parsed({"--json", "m", "a.png"});
  EXPECT_EQ(bare.json, "-");
  EXPECT_EQ(bare.model, "m");
  EXPECT_EQ(parsed({"--json=out.json", "m"}).json, "out.json");
}

TEST(Args, ListsRepeatAndTakeOneValueEach) {
  const Options o = parsed({"--output-name", "a", "m", "--output-name=b", "x.png"});
  EXPECT_EQ(o.outputs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(o.inputs, std::vector<std::string>{"x.png"});
}

TEST(Args, DashesEndOptionsAndADashIsAnArgument) {
  EXPECT_EQ(parsed({"--", "--fast"}).model, "--fast");
  EXPECT_EQ(parsed({"m", "-", "--fast"}).inputs, std::vector<std::string>{"-"});
}

TEST(Args, RefusalsNameTheThingAndTheWayOut) {
  EXPECT_EQ(refusal({}), "no MODEL given");
  EXPECT_EQ(refusal({"m", "--thread=3"}), "unknown option '--thread'; did you mean '--threads'?");
  EXPECT_EQ(refusal({"m", "--threads"}), "--threads needs a value");
  EXPECT_EQ(refusal({"m", "--threads", "-1"}), "--threads: -1 is not within 0..4096");
  EXPECT_EQ(refusal({"m", "--opt", "x"}), "--opt: 'x' is not an integer");
  EXPECT_EQ(refusal({"m", "--opt", "99999999999"}), "--opt: 99999999999 is not within -1..2147483647");
  EXPECT_EQ(refusal({"m", "--scale", "1,5"}), "--scale: '1,5' is not a number");
  EXPECT_EQ(refusal({"m", "--scale", "nan"}), "--scale: 'nan' is not a finite number");
  EXPECT_EQ(refusal({"m", "--scale", "inf"}), "--scale: 'inf' is not a finite number");
  EXPECT_EQ(refusal({"m", "--atol", "-1"}), "--atol: -1 is less than 0");
  EXPECT_EQ(refusal({"m", "--opt", "-3"}), "--opt: -3 is less than -1");
  EXPECT_EQ(refusal({"m", "--layout", "CHW"}), "--layout: 'CHW' is none of NCHW, NHWC");
}

TEST(Args, AnOptionThatSaysNothingAloneIsRefused) {
  const auto outcome = [](std::vector<std::string> words) -> std::string {
    Options o;
    words.insert(words.begin(), "dnn-test");
    Args args(words);
    args.option(&o.atol, "--atol", "X", "bound", 0);
    args.option(&o.json, "-j,--json", "FILE", "as JSON");
    args.flag(&o.fast, "--fast", "faster");
    args.only_with("--atol", {"--json", "--fast"});
    try {
      args.parse();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(outcome({"--atol", "1"}), "--atol says nothing without --json or --fast");
  EXPECT_EQ(outcome({"--atol=1", "-j", "a"}), "");
  EXPECT_EQ(outcome({"--fast", "--atol", "1"}), "");
  EXPECT_EQ(outcome({}), "");
}

TEST(Args, HelpAndVersionNeedNothingElse) {
  Options o;
  EXPECT_EQ(parse({"--help"}, &o), Args::Outcome::Help);
  EXPECT_EQ(parse({"-h"}, &o), Args::Outcome::Help);
  EXPECT_EQ(parse({"--version"}, &o), Args::Outcome::Version);
}

}  // namespace
}  // namespace dnn::cli
