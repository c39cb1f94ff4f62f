// Command lines of old; see moved.h.
#include "cli/moved.h"

#include <algorithm>
#include <iostream>

#include "base/text.h"

namespace dnn::cli {
namespace {

// True for the option, alone or with its value: "--repair", "--repair=FILE".
bool is_option(const std::string& word, const std::string& name) {
  return word == name || starts_with(word, name + "=");
}

// The command line for the new tool; no words where the option is not among them. What follows "--" is no option.
std::vector<std::string> words_for(const MovedOption& moved, const Program& tool, int argc, char** argv) {
  std::vector<std::string> words = {tool.tool->name};
  bool found = false, options = true;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    options = options && word != "--";
    if (!options || !is_option(word, moved.name)) {
      words.push_back(word);
      continue;
    }
    found = true;
    if (!moved.as.empty()) words.push_back(moved.as + word.substr(moved.name.size()));
  }
  return found ? words : std::vector<std::string>();
}

bool quiet(const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), "-q") != words.end() ||
         std::find(words.begin(), words.end(), "--quiet") != words.end();
}

}  // namespace

Program with_moved(const Program& program, const std::vector<MovedOption>& moved) {
  return {program.tool, [program, &moved](int argc, char** argv) {
            for (const MovedOption& option : moved) {
              const Program tool = option.tool();
              std::vector<std::string> words = words_for(option, tool, argc, argv);
              if (words.empty()) continue;
              if (!quiet(words)) {
                std::cerr << program.tool->name << ": warning: " << option.name << " ends with version 0.4: use "
                          << option.instead << "\n";
              }
              std::vector<char*> arguments;
              for (std::string& word : words) arguments.push_back(word.data());
              arguments.push_back(nullptr);
              return tool.run(static_cast<int>(words.size()), arguments.data());
            }
            return program.run(argc, argv);
          }};
}

}  // namespace dnn::cli
