// Sums over ranks, and how ranks fail; see ranks.h.
#include "train/ranks.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/failure.h"
#include "base/sha256.h"

namespace dnn::train {
namespace {

constexpr int64_t kNumbersAtOnce = int64_t{1} << 22;  // bounds the memory of an exchange; no bit depends on it

// The numbers of several tensors, one tensor after the other.
template <class T>
class NumberRow {
 public:
  explicit NumberRow(const std::vector<Tensor>& tensors) : tensors_(tensors) {}

  int64_t count() const {
    int64_t n = 0;
    for (const Tensor& tensor : tensors_) n += tensor.size();
    return n;
  }
  // Those in front of which `begin` others are.
  void read(int64_t begin, std::span<T> numbers) const {
    walk(begin, static_cast<int64_t>(numbers.size()), [&](size_t i, int64_t at, int64_t done, int64_t n) {
      std::copy_n(tensors_[i].template data<T>() + at, n, numbers.data() + done);
    });
  }
  void write(int64_t begin, std::span<const T> numbers, std::vector<Tensor>* tensors) const {
    walk(begin, static_cast<int64_t>(numbers.size()), [&](size_t i, int64_t at, int64_t done, int64_t n) {
      std::copy_n(numbers.data() + done, n, tensors->at(i).template mutable_data<T>() + at);
    });
  }

 private:
  // body(tensor, at in it, numbers before, numbers) for each piece of a tensor.
  template <class Body>
  void walk(int64_t begin, int64_t count, const Body& body) const {
    int64_t done = 0;
    for (size_t i = 0; i < tensors_.size() && done < count; ++i) {
      const int64_t size = tensors_[i].size();
      if (begin >= size) {
        begin -= size;
        continue;
      }
      const int64_t n = std::min(size - begin, count - done);
      body(i, begin, done, n);
      done += n;
      begin = 0;
    }
  }

  const std::vector<Tensor>& tensors_;
};

// Tensors of the same types and shapes, in the memory that is there.
void shape_like(const std::vector<Tensor>& tensors, std::vector<Tensor>* like) {
  like->resize(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    Tensor& other = (*like)[i];
    if (!other.defined() || other.dtype() != tensors[i].dtype() || other.shape() != tensors[i].shape())
      other = Tensor(tensors[i].dtype(), tensors[i].shape());
  }
}

}  // namespace

RankShare share_of_rank(int64_t count, int rank, int ranks) {
  const int64_t each = count / ranks, more = count % ranks;
  return {rank * each + std::min<int64_t>(rank, more), each + (rank < more ? 1 : 0)};
}

void Ranks::sum(const std::vector<Tensor>& own, const std::vector<double>& weights, std::vector<Tensor>* sums) {
  if (own.empty()) return sums->clear();
  shape_like(own, sums);
  if (own[0].dtype() == DType::Float64) return sum_numbers<double>(own, weights, sums);
  sum_numbers<float>(own, weights, sums);
}

// Rank r adds up the r-th share of each piece for all, and sends the sums to all.
template <class T>
void Ranks::sum_numbers(const std::vector<Tensor>& own, const std::vector<double>& weights, std::vector<Tensor>* sums) {
  const NumberRow<T> row(own);
  const size_t ranks = size();
  const int64_t all = row.count(), most = std::min(all, kNumbersAtOnce);
  std::vector<T> piece(most), received;
  std::vector<double> added;
  for (int64_t begin = 0; begin < all; begin += kNumbersAtOnce) {
    const int64_t n = std::min(kNumbersAtOnce, all - begin), mine = share(n).count;
    const std::span<T> numbers(piece.data(), n);
    row.read(begin, numbers);
    received.resize(mine * ranks);
    std::vector<std::span<T>> shares, parts;
    for (size_t r = 0; r < ranks; ++r) {
      const RankShare part = share_of_rank(n, static_cast<int>(r), size());
      shares.push_back(numbers.subspan(part.begin, part.count));
      parts.push_back(std::span<T>(received).subspan(mine * r, mine));
    }
    const auto exchange = [&](const std::vector<std::span<T>>& to, const std::vector<std::span<T>>& from) {
      std::vector<Bytes> out;
      std::vector<std::span<std::byte>> in;
      for (const std::span<T>& part : to) out.push_back(std::as_bytes(part));
      for (const std::span<T>& part : from) in.push_back(std::as_writable_bytes(part));
      link_->exchange(out, in);
    };
    exchange(shares, parts);
    added.assign(mine, 0);
    for (size_t r = 0; r < ranks; ++r) {
      for (int64_t i = 0; i < mine; ++i) added[i] += weights[r] * static_cast<double>(parts[r][i]);
    }
    for (int64_t i = 0; i < mine; ++i) received[i] = static_cast<T>(added[i]);
    exchange(std::vector<std::span<T>>(ranks, std::span<T>(received).first(mine)), shares);
    row.write(begin, numbers, sums);
  }
}

Tensor Ranks::join_rows(const Tensor& own, int64_t rows) {
  Shape shape = own.shape();
  shape[0] = rows;
  Tensor whole(own.dtype(), shape);
  const int64_t row = rows == 0 ? 0 : static_cast<int64_t>(whole.size_bytes()) / rows;
  const std::span<std::byte> bytes(whole.mutable_bytes(), whole.size_bytes());
  std::vector<std::span<std::byte>> from;
  for (int r = 0; r < size(); ++r) {
    const RankShare part = share_of_rank(rows, r, size());
    from.push_back(bytes.subspan(part.begin * row, part.count * row));
  }
  link_->exchange(std::vector<Bytes>(from.size(), own.bytes()), from);
  return whole;
}

void Ranks::spread(std::vector<Tensor>* tensors) {
  const size_t ranks = size();
  for (Tensor& tensor : *tensors) {
    if (tensor.size() == 0) continue;
    Tensor received(tensor.dtype(), tensor.shape());
    std::vector<std::span<std::byte>> from(ranks);
    from[0] = {received.mutable_bytes(), received.size_bytes()};
    link_->exchange(std::vector<Bytes>(ranks, is_first() ? tensor.bytes() : Bytes()), from);
    tensor = std::move(received);
  }
}

void Ranks::fail_together(int rank, int exit_code, std::exception_ptr own) {
  FailedTogether failed;
  failed.exit_code = exit_code;
  if (rank == this->rank()) failed.own = std::move(own);
  throw failed;
}

void Ranks::together(const std::function<void()>& work) {
  std::exception_ptr failure;
  int code = 0;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
    code = failure_of(failure).exit_code;
  }
  const std::vector<int> codes = gather(code);
  for (int r = 0; r < size(); ++r) {
    if (codes[r] != 0) fail_together(r, codes[r], failure);
  }
}

void Ranks::check_same(const std::string& text, const std::string& what, const std::string& when) {
  std::array<char, 64> digest;
  sha256_hex(as_bytes(text)).copy(digest.data(), digest.size());
  const auto digests = gather(digest);
  for (int r = 1; r < size(); ++r) {
    if (digests[r] == digests[0]) continue;
    const Error error(ErrorKind::Environment,
                      cat(when, " rank ", r, " has other ", what,
                          " than rank 0: give all ranks one command, the same files, and machines of one kind"));
    fail_together(0, error.exit_code(), std::make_exception_ptr(error));
  }
}

void together(Ranks* ranks, const std::function<void()>& work) {
  if (ranks == nullptr) return work();
  ranks->together(work);
}

int run_rank(Ranks& ranks, const std::function<void()>& work, const std::function<int()>& say_failure) {
  try {
    work();
    return 0;
  } catch (const FailedTogether& failed) {
    if (failed.own) {
      try {
        std::rethrow_exception(failed.own);
      } catch (...) {
        say_failure();
      }
    }
    ranks.gather(0);  // a launcher may end the others when the first one ends, which may not have said it by then
    return failed.exit_code;
  } catch (...) {
    const int code = say_failure();
    ranks.end_all(code);
    return code;
  }
}

}  // namespace dnn::train
