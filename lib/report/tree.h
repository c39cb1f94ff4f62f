// Where the pages for a documentation tree and their figures go.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/document.h"

namespace dnn::report {

struct TreePlaces {
  std::string images;  // the folder of figures, absolute
  std::string below;   // how pages name that folder: relative to the root, "" or with "/" at its end
  std::string prefix;  // with which the figures' names begin: the page's own name, of letters, digits and '-'
};

// The places of a page at `output` ("-": standard output, called "report"): figures in `image_folder`, named relative to `root`; both, where not given,
// are the page's folder.
TreePlaces tree_places(const std::string& output, const std::optional<std::string>& image_folder,
                       const std::optional<std::string>& root);

// Writes the figures of the tree; their folder is made where there are any.
void write_figures(const Tree& tree, const TreePlaces& places);

// Figures in the folder whose names begin as those of this tree but which are none of its, sorted: an earlier report's.
std::vector<std::string> left_over_figures(const Tree& tree, const TreePlaces& places);

}  // namespace dnn::report
