// Kenning's protocol on a serial line: pings open and close a talk, messages are short, and what is JSON on a network is a structure of C.
#pragma once
#include <string>

#include "base/io.h"

namespace dnn::serve::uart {

inline constexpr size_t kPiece = 124;  // bytes of a payload in one message, which has 136 at most
inline constexpr double kSilenceSeconds =
    0.5;  // within a message: less than a client waits before it opens its talk again

// Reads until a ping that opens a talk, whatever else an earlier talk has left on the line.
void await_opening(ByteSource& line);

// True for a description of tensors that is the structure: it has no names, so tensors go in the model's order.
bool is_structure(Bytes io_spec);

// Statistics as Kenning's clients of serial lines read them: the time of the last run.
std::string statistics(double last_run_s);

}  // namespace dnn::serve::uart
