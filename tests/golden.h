// Golden files: text that a test makes, held against what the tree has of it, or written there with --rebase.
#pragma once
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace dnn {

class Goldens {
 public:
  explicit Goldens(bool rebase) : rebase_(rebase) {}

  // One failure, of `name`.
  void fail(const std::string& name, const std::string& why) {
    std::cout << "FAIL " << name << ": " << why << "\n";
    ++failed_;
  }

  // Holds `text` against the file, or writes it there.
  void check(const std::string& path, const std::string& text) {
    ++checked_;
    const std::string expected = std::filesystem::exists(path) ? read_file(path) : "";
    if (text == expected) return;
    if (rebase_) {
      std::filesystem::create_directories(std::filesystem::path(path).parent_path());
      write_file(path, text);
      std::cout << "rewrote " << path << "\n";
      return;
    }
    TemporaryFolder folder(std::filesystem::temp_directory_path().string());
    write_file(folder.path() + "/got", text);
    write_file(folder.path() + "/expected", expected);
    const ProcessResult diff = run_process({"diff", "-u", "expected", "got"}, folder.path(), 20);
    fail(path, "differs (tests/run --rebase rewrites it)\n" + diff.output);
  }

  // Prints the counts; the exit code of the test. `what` names what was checked.
  int finish(const std::string& what) const {
    std::cout << checked_ << " " << what << ", " << failed_ << " failures\n";
    return failed_ == 0 && checked_ > 0 ? 0 : 1;
  }

 private:
  bool rebase_;
  int checked_ = 0, failed_ = 0;
};

}  // namespace dnn
