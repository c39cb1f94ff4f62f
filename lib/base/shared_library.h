// SharedLibrary: a library of others that is used where it is installed and not needed otherwise.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace dnn {

// The folder of the program that runs, links resolved: what is installed with it is found from there.
std::filesystem::path program_folder();

class SharedLibrary {
 public:
  // The first of `names` (as dlopen() takes them) that loads; null when none does. It stays loaded until the process ends: threads of
  // such libraries outlive their users.
  static std::unique_ptr<SharedLibrary> open(const std::vector<std::string>& names);

  // The function of that name; throws Environment when the library lacks it.
  template <class F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(symbol(name));
  }
  // The same, or null.
  template <class F>
  F* function_or_null(const char* name) const {
    return reinterpret_cast<F*>(find(name));
  }
  const std::string& name() const { return name_; }

 private:
  SharedLibrary(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}
  void* find(const char* name) const;
  void* symbol(const char* name) const;

  std::string name_;
  void* handle_;
};

}  // namespace dnn
