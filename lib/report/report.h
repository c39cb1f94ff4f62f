// Reports: from what was gathered of runs (data.h) by way of a document (document.h) to a page or a documentation tree.
//
// The contract of lib/report: the same data give the same bytes; every text of a stream is escaped; what is left out, for size or
// because nothing defines it, is said. A kind of plot is a file of plots/; a section is a function of a file of sections/ and
// a row of sections.def.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "report/data.h"
#include "report/document.h"

namespace dnn::report {

enum class Type : uint8_t { Performance, Classification, Comparison, Localization };
std::string_view type_name(Type type);  // "performance"
const std::vector<Type>& all_types();
std::set<Type> types_from_text(const std::string& names);  // "performance,comparison"; throws Usage

struct Options {
  std::string title = "Comparison of runs";
  std::set<Type> types = {all_types().begin(), all_types().end()};
  std::string image_root;  // where relative paths of samples start, and all images lie below; "" is here
  bool thumbnails = true;  // read the images of the samples that are shown
  size_t picture_bytes = size_t{3} << 19;  // of thumbnails
  size_t list_bytes = size_t{1} << 20;     // of lists of flipped samples
};

Document make_document(const Data& data, const Options& options);

// Tab-separated: type, section, what it shows.
std::string types_list();

}  // namespace dnn::report
