// Signals that end a tool: it ends its children, removes its temporary files, and is then ended by that signal, as its caller expects.
#pragma once

namespace dnn::cli {

// For SIGINT, SIGTERM and SIGHUP, as far as the caller does not ignore them. A handler of one's own may call it to have the next such
// signal end the tool.
void end_cleanly_by_signals();

// For a search, which ends early with what it has found: the first SIGINT or SIGTERM makes interrupted() true, the next ends the tool.
void note_first_interrupt();
bool interrupted();

// A mapped file that shrank while it was read is one line and exit code 3, not a bus error; one that cannot be read any more 5.
void report_bus_errors();

// A file whose reading takes more processor time than base/read_limit.h gives it is one line and exit code 4.
void report_slow_reading();

}  // namespace dnn::cli
