// Paths as a report shows them: a report is passed on, and folders of its maker's machine are no part of what it says.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "report/data.h"

namespace dnn::report {

// The text with each absolute path in it, and each that begins with .. or ~, replaced by its last part. A path ends at a blank, a
// quote, a comma, a semicolon or a colon.
std::string with_base_names(std::string_view text);

// One word of a command line: a path, NAME=PATH or --option=PATH, which may hold blanks; of exec:COMMAND the paths in it.
std::string word_with_base_names(const std::string& word);

// The same of all that a header says: command, model, device, preprocessing, facts of the host.
void use_base_names(stream::Header* header);

// The same of the names of models and samples.
void use_base_names(Localization* localization);

// The same of a branched network's name and of its devices, a socket of another machine's server among them.
void use_base_names(Branched* network);

// Paths of samples: of those that are absolute, or begin with .. or ~, the last two parts below the folder that they have in
// common.
std::vector<std::string> shown_paths(const std::vector<std::string>& paths);

}  // namespace dnn::report
