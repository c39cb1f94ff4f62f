// A box: a thread that reads what others made is closed first. Landlock keeps its files to those that are listed, seccomp keeps it from
// sockets, programs, other processes and the changing of files. What it starts is in the box, too; it is never opened again.
//
// The memory of the process is not divided: the box stops a reader that opens, sends or starts what it should not, and not code that
// takes over the whole process (docs/decisions/0053).
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace dnn {

enum class Sandbox { Off, Auto, On };

// For all of the process; Off at first. Auto: as far as the kernel can. On: throws Environment where it cannot. A tool sets it once,
// before it reads.
void set_sandbox(Sandbox mode);

struct BoxRules {
  std::vector<std::string> readable;  // files, and folders with all that is below
  bool reads_all = false;             // any file; `readable` is not looked at then
};

// Closes the calling thread for good. With Off nothing happens.
void close_thread(const BoxRules& rules);

// Runs `work` in a thread of its own, which is closed, and rethrows what it throws. With Off: in this one.
void in_box(const BoxRules& rules, const std::function<void()>& work);

// The same in a closed thread that the calling one keeps, for many small pieces of work that may read any file: handing one over takes
// some 10 us, where closing a thread takes some 100. In a thread that is closed itself: in that.
void in_kept_box(const std::function<void()>& work);

// The parts of a box that this kernel keeps: "files" and "calls", and of what it does not why: "calls (Function not implemented)".
struct BoxSupport {
  std::vector<std::string> kept, not_kept;
};
// Tried on a thread that then ends.
BoxSupport box_support();

}  // namespace dnn
