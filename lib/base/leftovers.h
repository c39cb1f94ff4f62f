// Leftovers: what a process that a signal ends must not leave behind (temporary files and folders, running children), and which
// mapped file a bus error comes from. Kept so that a signal handler can read it.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>

namespace dnn {

// A temporary file or folder, which remove_leftovers() removes while the object lives.
class Leftover {
 public:
  explicit Leftover(const std::string& path);
  ~Leftover();
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;

 private:
  int slot_ = -1;
};

// A child that leads a process group, from its start until forget_child().
void remember_child(pid_t child);
void forget_child(pid_t child);

// A mapping of a file, until forget_mapping(). `name` is for messages.
void remember_mapping(const void* begin, size_t size, const std::string& name);
void forget_mapping(const void* begin);

// The functions below may be called by a signal handler, once, in a process that is to end.

// Ends the children with those in their process groups, waits for them, and removes temporary files and folders. Children that
// start meanwhile are ended at once.
void remove_leftovers();

struct MappingAt {
  const char* name = nullptr;  // null: no file is mapped there
  bool shrank = false;         // the file is shorter now than it was
};
MappingAt mapping_at(const void* address);

}  // namespace dnn
