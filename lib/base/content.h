// Content: what a file is to hold, in pieces: short ones are kept here, long ones stay where they are, or come into being, when
// they are written. So a file is as large as it is on the disk alone.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/io.h"

namespace dnn {

// Bytes, and what keeps them alive; whoever is given them may hold on to it.
struct SharedBytes {
  Bytes bytes;
  std::shared_ptr<const void> owner;
};

class Content {
 public:
  // Hands over exactly `size` bytes, the same at each call.
  using Produce = std::function<void(ByteSink& to)>;

  Content() = default;
  Content(std::string text);                                 // NOLINT: implicit on purpose, a file is mostly its text
  Content(const char* text) : Content(std::string(text)) {}  // NOLINT
  // At the end; text is copied, the rest is not.
  void append(std::string_view text);
  void append(const std::string& text) { append(std::string_view(text)); }
  void append(SharedBytes piece);
  void append(uint64_t size, Produce produce);
  void append(const Content& more);

  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void write(ByteSink& to) const;
  // All of it in memory: where it is one piece there, that piece, else a copy.
  SharedBytes whole() const;
  std::string text() const;

 private:
  struct Piece {
    uint64_t size = 0;
    std::shared_ptr<std::string> own;
    SharedBytes view;
    Produce produce;
  };

  std::vector<Piece> pieces_;
  uint64_t size_ = 0;
};

}  // namespace dnn
