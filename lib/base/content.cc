// Content; see content.h.
#include "base/content.h"

namespace dnn {

Content::Content(std::string text) : size_(text.size()) {
  if (size_ > 0) pieces_.push_back({size_, std::make_shared<std::string>(std::move(text)), {}, {}});
}

void Content::append(std::string_view text) {
  if (text.empty()) return;
  if (pieces_.empty() || pieces_.back().own == nullptr || pieces_.back().own.use_count() > 1)
    pieces_.push_back({0, std::make_shared<std::string>(), {}, {}});
  pieces_.back().own->append(text);
  pieces_.back().size += text.size();
  size_ += text.size();
}

void Content::append(SharedBytes piece) {
  if (piece.bytes.empty()) return;
  size_ += piece.bytes.size();
  pieces_.push_back({piece.bytes.size(), nullptr, std::move(piece), {}});
}

void Content::append(uint64_t size, Produce produce) {
  if (size == 0) return;
  size_ += size;
  pieces_.push_back({size, nullptr, {}, std::move(produce)});
}

void Content::append(const Content& more) {
  pieces_.insert(pieces_.end(), more.pieces_.begin(), more.pieces_.end());
  size_ += more.size_;
}

void Content::write(ByteSink& to) const {
  for (const Piece& piece : pieces_) {
    if (piece.produce) {
      piece.produce(to);
    } else {
      to.write(piece.own != nullptr ? as_bytes(*piece.own) : piece.view.bytes);
    }
  }
}

SharedBytes Content::whole() const {
  if (pieces_.size() == 1 && pieces_[0].own != nullptr) return {as_bytes(*pieces_[0].own), pieces_[0].own};
  if (pieces_.size() == 1 && !pieces_[0].produce) return pieces_[0].view;
  auto copy = std::make_shared<const std::string>(text());
  const Bytes bytes = as_bytes(*copy);
  return {bytes, std::move(copy)};
}

std::string Content::text() const {
  StringSink sink;
  sink.reserve(size_);
  write(sink);
  return sink.take();
}

}  // namespace dnn
