// The exit code and message of a refused call, as tests compare them.
#pragma once
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace dnn {

template <class Work>
std::string refused(Work&& work) {
  try {
    work();
  } catch (const Error& e) {
    return cat(e.exit_code(), " ", e.what());
  }
  return "accepted";
}

}  // namespace dnn
