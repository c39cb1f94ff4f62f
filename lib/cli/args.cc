// Args: declaration and parsing; see cli.h.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <map>

#include "base/box.h"
#include "base/read_limit.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/console.h"

namespace dnn::cli {
namespace {

std::string main_name(const std::string& names) { return names.substr(names.rfind(',') + 1); }

template <class T>
T parse_integer(const std::string& text, const std::string& name, int64_t low, int64_t high) {
  int64_t value = 0;
  if (!parse_int(text, &value)) fail_usage(name, ": '", text, "' is not an integer");
  if (value < low && low > INT32_MIN && high >= INT32_MAX) fail_usage(name, ": ", value, " is less than ", low);
  if (value < low || value > high) fail_usage(name, ": ", value, " is not within ", low, "..", high);
  return static_cast<T>(value);
}

double parse_number(const std::string& text, const std::string& name, double least) {
  double value = 0;
  if (!parse_double(text, &value)) fail_usage(name, ": '", text, "' is not a number");
  if (!std::isfinite(value)) fail_usage(name, ": '", text, "' is not a finite number");
  if (value < least) fail_usage(name, ": ", text, " is less than ", exact_text(least));
  return value;
}

Sandbox sandbox_of(const std::string& text) {
  if (text == "on") return Sandbox::On;
  if (text == "off") return Sandbox::Off;
  if (text != "auto") fail_usage("--sandbox: '", text, "' is none of on, off, auto");
  return Sandbox::Auto;
}

// "BYTES" or "BYTES,SECONDS"; bytes of 0 follow from the size.
ReadLimits limits_of(const std::string& text) {
  const size_t comma = text.find(',');
  int64_t bytes = 0;
  double seconds = 0;
  if (!parse_int(text.substr(0, comma), &bytes) || bytes < 0)
    fail_usage("--max-memory: '", text.substr(0, comma), "' is no number of bytes");
  if (comma != std::string::npos &&
      (!parse_double(text.substr(comma + 1), &seconds) || !(seconds > 0 && seconds < 1e9)))
    fail_usage("--max-memory: '", text.substr(comma + 1), "' is no number of seconds");
  return {static_cast<uint64_t>(bytes), seconds};
}

std::string with_default(const std::string& help, const std::string& value) {
  return value.empty() || help.empty() ? help : cat(help, " (default ", value, ")");
}

}  // namespace

std::string precision_name(const std::string& name) {
  static const std::map<std::string, std::string, std::less<>> names = {
      {"f16", "float16"}, {"bf16", "bfloat16"}, {"f32", "float32"}};
  const auto row = names.find(name);
  return row == names.end() ? name : row->second;
}

Args::Args(std::vector<std::string> command) : command_(std::move(command)) {
  adding_shared_ = true;
  flag(&console().quiet, "-q,--quiet", "no warnings, no progress");
  flag(&console().verbose, "-v,--verbose", "say what is done");
  add({Row::Kind::Value, "--sandbox", "MODE", "close what reads files of others: on, off, auto (default auto)", "",
       true, [](const std::string& text) { set_sandbox(sandbox_of(text)); }});
  add({Row::Kind::Value, "--max-memory", "BYTES", "to read or run a model, or BYTES,SECONDS (default: by its size)", "",
       true, [](const std::string& text) { limit_reading(limits_of(text)); }});
  adding_shared_ = false;
}

void Args::positional(std::string* value, const std::string& name, const std::string& help) {
  positionals_.push_back({name, help, 1, 1, [value](const std::string& text) { *value = text; }});
}

void Args::optional_positional(std::string* value, const std::string& name, const std::string& help) {
  positionals_.push_back({name, help, 0, 1, [value](const std::string& text) { *value = text; }});
}

void Args::positionals(std::vector<std::string>* values, const std::string& name, const std::string& help,
                       size_t minimum) {
  positionals_.push_back(
      {name, help, minimum, SIZE_MAX, [values](const std::string& text) { values->push_back(text); }});
}

void Args::flag(bool* value, const std::string& names, const std::string& help) {
  add({Row::Kind::Flag, names, "", help, "", adding_shared_, [value](const std::string&) { *value = true; }});
}

void Args::option(std::string* value, const std::string& names, const std::string& placeholder,
                  const std::string& help) {
  add({Row::Kind::Value, names, placeholder, with_default(help, *value), "", adding_shared_,
       [value](const std::string& text) { *value = text; }});
}

void Args::option(int* value, const std::string& names, const std::string& placeholder, const std::string& help,
                  int least) {
  add({Row::Kind::Value, names, placeholder, with_default(help, cat(*value)), "", adding_shared_,
       [value, least, name = main_name(names)](const std::string& text) {
         *value = parse_integer<int>(text, name, least, INT32_MAX);
       }});
}

void Args::option(int64_t* value, const std::string& names, const std::string& placeholder, const std::string& help,
                  int64_t least) {
  add({Row::Kind::Value, names, placeholder, with_default(help, cat(*value)), "", adding_shared_,
       [value, least, name = main_name(names)](const std::string& text) {
         *value = parse_integer<int64_t>(text, name, least, INT64_MAX);
       }});
}

void Args::option(uint64_t* value, const std::string& names, const std::string& placeholder, const std::string& help) {
  add({Row::Kind::Value, names, placeholder, with_default(help, cat(*value)), "", adding_shared_,
       [value, name = main_name(names)](const std::string& text) {
         *value = parse_integer<uint64_t>(text, name, 0, INT64_MAX);
       }});
}

void Args::option(double* value, const std::string& names, const std::string& placeholder, const std::string& help,
                  double least) {
  add({Row::Kind::Value, names, placeholder, with_default(help, exact_text(*value)), "", adding_shared_,
       [value, least, name = main_name(names)](const std::string& text) { *value = parse_number(text, name, least); }});
}

void Args::option(std::optional<std::string>* value, const std::string& names, const std::string& placeholder,
                  const std::string& help) {
  add({Row::Kind::Value, names, placeholder, help, "", adding_shared_,
       [value](const std::string& text) { *value = text; }});
}

void Args::option(std::optional<int64_t>* value, const std::string& names, const std::string& placeholder,
                  const std::string& help, int64_t least) {
  add({Row::Kind::Value, names, placeholder, help, "", adding_shared_,
       [value, least, name = main_name(names)](const std::string& text) {
         *value = parse_integer<int64_t>(text, name, least, INT64_MAX);
       }});
}

void Args::option(std::optional<double>* value, const std::string& names, const std::string& placeholder,
                  const std::string& help, double least) {
  add({Row::Kind::Value, names, placeholder, help, "", adding_shared_,
       [value, least, name = main_name(names)](const std::string& text) { *value = parse_number(text, name, least); }});
}

void Args::optional_value(std::optional<std::string>* value, const std::string& names, const std::string& placeholder,
                          const std::string& bare, const std::string& help) {
  add({Row::Kind::OptionalValue, names, placeholder, help, bare, adding_shared_,
       [value](const std::string& text) { *value = text; }});
}

void Args::optional_value(std::optional<double>* value, const std::string& names, const std::string& placeholder,
                          const std::string& bare, const std::string& help, double least) {
  add({Row::Kind::OptionalValue, names, placeholder, help, bare, adding_shared_,
       [value, least, name = main_name(names)](const std::string& text) { *value = parse_number(text, name, least); }});
}

void Args::choice(std::string* value, const std::string& names, const std::vector<std::string>& choices,
                  const std::string& help) {
  add({Row::Kind::Value, names, join(choices, "|"), with_default(help, *value), "", adding_shared_,
       [value, choices, name = main_name(names)](const std::string& given) {
         const bool exact = std::find(choices.begin(), choices.end(), given) != choices.end();
         const std::string text = exact ? given : precision_name(given);
         if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
           fail_usage(name, ": '", given, "' is none of ", join(choices));
         }
         *value = text;
       }});
}

void Args::list(std::vector<std::string>* values, const std::string& names, const std::string& placeholder,
                const std::string& help) {
  add({Row::Kind::List, names, placeholder, help, "", adding_shared_,
       [values](const std::string& text) { values->push_back(text); }});
}

void Args::output(std::string* value) {
  adding_shared_ = true;
  option(value, "-o,--output", "FILE", "where the result goes; '-' is standard output");
  adding_shared_ = false;
}

void Args::threads(int* value) {
  adding_shared_ = true;
  add({Row::Kind::Value, "--threads", "N", with_default("threads to use; 0 is one per processor", cat(*value)), "",
       true, [value](const std::string& text) { *value = parse_integer<int>(text, "--threads", 0, 4096); }});
  adding_shared_ = false;
}

void Args::seed(uint64_t* value) {
  adding_shared_ = true;
  option(value, "--seed", "N", "start of everything random");
  adding_shared_ = false;
}

void Args::device(std::string* value, const std::string& help) {
  adding_shared_ = true;
  option(value, "--device", "NAME", help);
  adding_shared_ = false;
}

namespace {

// A pattern such as * may have brought a file of somebody else's whose name is an option's.
void refuse_files_as_options(const std::vector<std::string>& command) {
  for (size_t i = 1; i < command.size() && command[i] != "--"; ++i) {
    const std::string& word = command[i];
    std::error_code ignored;
    if (word.size() < 2 || word[0] != '-') continue;
    if (std::filesystem::exists(std::filesystem::symlink_status(word, ignored)))
      fail_usage("'", word, "' is an option, and the name of a file here: write ./", word, " for the file");
  }
}

// The command line's words by what they belong to.
struct Given {
  bool flag = false;
  std::vector<std::string> values;
};
struct Words {
  bool want_help = false, want_version = false;
  std::deque<Given> rows;              // by row; stable addresses
  std::vector<std::string> arguments;  // of no option
  std::vector<std::string> remaining;  // behind "--", or of no row
};

Words words_of(const std::vector<std::string>& command, const std::vector<Args::Row>& rows) {
  Words words;
  words.rows.resize(rows.size());
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.add_flag("-h,--help", words.want_help);
  app.add_flag("--version", words.want_version);
  for (size_t i = 0; i < rows.size(); ++i) {
    const Args::Row& row = rows[i];
    if (row.kind == Args::Row::Kind::Flag) {
      app.add_flag(row.names, words.rows[i].flag);
    } else if (row.kind == Args::Row::Kind::OptionalValue) {
      app.add_flag(row.names + "{" + row.bare + "}", words.rows[i].values)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    } else {
      app.add_option(row.names, words.rows[i].values)
          ->allow_extra_args(false)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }
  app.add_option("arguments", words.arguments);
  try {
    std::vector<std::string> reversed(command.rbegin(), command.rend());
    if (!reversed.empty()) reversed.pop_back();
    app.parse(std::move(reversed));
  } catch (const CLI::ArgumentMismatch& e) {
    const std::string text = e.what();
    fail_usage(text.substr(0, text.find(':')), " needs a value");
  } catch (const CLI::ParseError& e) {
    std::string text = e.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    fail_usage(text);
  }
  words.remaining = app.remaining();
  return words;
}

[[noreturn]] void fail_unknown(const std::string& option, const std::vector<Args::Row>& rows) {
  std::vector<std::string> names = {"--help", "--version"};
  for (const Args::Row& row : rows) {
    for (const std::string& name : split(row.names, ',')) names.push_back(name);
  }
  const std::string word = option.substr(0, option.find('='));
  const std::string suggestion = nearest_word(word, names);
  fail_usage("unknown option '", word, "'", suggestion.empty() ? "" : cat("; did you mean '", suggestion, "'?"));
}

// Hands the values out to the rows; the names of those with a value.
std::vector<std::string> set_rows(const std::vector<Args::Row>& rows, std::deque<Given>* given) {
  std::vector<std::string> names;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Args::Row& row = rows[i];
    std::vector<std::string>& values = (*given)[i].values;
    if (row.kind == Args::Row::Kind::Flag && (*given)[i].flag) values = {""};
    if (row.kind != Args::Row::Kind::List && values.size() > 1) values = {values.back()};
    for (const std::string& value : values) row.set(value);
    if (!values.empty()) names.push_back(main_name(row.names));
  }
  return names;
}

// Each positional takes as many as it can, but for the minimum of those behind it.
void set_positionals(const std::vector<Args::Positional>& positionals, const std::vector<std::string>& arguments) {
  size_t used = 0;
  size_t still_needed = 0;
  for (const Args::Positional& p : positionals) {
    still_needed += p.minimum;
    if (still_needed > arguments.size()) fail_usage("no ", p.name, " given");
  }
  for (const Args::Positional& p : positionals) {
    still_needed -= p.minimum;
    const size_t left = arguments.size() - used;
    const size_t n = std::min(p.maximum, left - still_needed);
    for (size_t i = 0; i < n; ++i) p.set(arguments[used++]);
  }
  if (used < arguments.size()) fail_usage("unexpected argument '", arguments[used], "'");
}

}  // namespace

Args::Outcome Args::parse() {
  refuse_files_as_options(command_);
  Words words = words_of(command_, rows_);
  if (words.want_help) return Outcome::Help;
  if (words.want_version) return Outcome::Version;
  for (const std::string& extra : words.remaining) {
    if (extra == "--") continue;  // ended the options
    if (extra.size() > 1 && extra[0] == '-') fail_unknown(extra, rows_);
    words.arguments.push_back(extra);
  }
  const std::vector<std::string> given = set_rows(rows_, &words.rows);
  const auto is_given = [&](const std::string& name) {
    return std::find(given.begin(), given.end(), name) != given.end();
  };
  for (const auto& [option, others] : only_with_) {
    if (is_given(option) && std::none_of(others.begin(), others.end(), is_given))
      fail_usage(option, " says nothing without ", join(others, " or "));
  }
  if (given_ != nullptr) *given_ = given;
  set_positionals(positionals_, words.arguments);
  return Outcome::Work;
}

}  // namespace dnn::cli
