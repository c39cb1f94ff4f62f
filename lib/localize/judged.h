// Which of the given inputs a verdict does not rest on, and why: no verdict claims more inputs than were judged.
#pragma once
#include <cstdint>
#include <string>

#include "base/text.h"

namespace dnn {

inline constexpr double kLoadShare = 0.1;  // of a limited time: for reading samples

struct NotJudged {
  int64_t unread = 0;    // inputs that could not be read
  int64_t left_out = 0;  // for want of time or room, as far as it is known how many there are
  bool any() const { return unread > 0 || left_out > 0; }
  void add(const NotJudged& other) {
    unread += other.unread;
    left_out += other.left_out;
  }
  // " (2 could not be read, 3 were left out)"; "" where all were judged.
  std::string text() const {
    if (!any()) return "";
    const std::string read = unread == 0 ? "" : cat(unread, " could not be read");
    const std::string left = left_out == 0 ? "" : cat(left_out, left_out == 1 ? " was left out" : " were left out");
    return cat(" (", read, read.empty() || left.empty() ? "" : ", ", left, ")");
  }
  // The member "not_judged" of a report, which has it only where there are any.
  template <class Json>
  void put_into(Json* json) const {
    if (any()) (*json)["not_judged"] = {{"unread", unread}, {"left_out", left_out}};
  }
};

}  // namespace dnn
