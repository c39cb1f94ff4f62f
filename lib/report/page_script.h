// The script of a page; the page names its hash, so that a browser runs no other.
#pragma once
#include <string_view>

namespace dnn::report {

std::string_view page_script();

}  // namespace dnn::report
