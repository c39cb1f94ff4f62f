// Ranks: processes that train one network together, each on its share of every batch (data-parallel training). What they exchange is summed
// here, in the order of the ranks, so that a number of ranks always gives the same bits, whatever moves the bytes.
#pragma once
#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "tensor/tensor.h"

namespace dnn::train {

// Moves bytes between the ranks: over MPI (mpi_link.h), in tests between threads.
class RankLink {
 public:
  virtual ~RankLink() = default;
  virtual int rank() const = 0;  // from 0 on
  virtual int size() const = 0;
  // Sends to[r] to each rank r and receives from[r] of it, its own part included; all ranks call it in the same order with sizes that agree.
  // The parts sent may overlap. Returns when this rank's parts are there and its own may be changed.
  virtual void exchange(const std::vector<Bytes>& to, const std::vector<std::span<std::byte>>& from) = 0;
  // Ends the processes of all ranks, with that exit code; does not return.
  virtual void end_all(int exit_code) = 0;
};

// All ranks throw it at the same point, because of one of them.
struct FailedTogether : std::exception {
  const char* what() const noexcept override { return "a rank failed"; }
  int exit_code = 0;
  std::exception_ptr own;  // the failure, on the rank that has it; null on the others
};

// A rank's contiguous part of a number of things; shares differ by one at most, and the larger ones come first.
struct RankShare {
  int64_t begin = 0, count = 0;
};
RankShare share_of_rank(int64_t count, int rank, int ranks);

// Every member function is called by all ranks, in the same order.
class Ranks {
 public:
  explicit Ranks(std::unique_ptr<RankLink> link) : link_(std::move(link)) {}
  int rank() const { return link_->rank(); }
  int size() const { return link_->size(); }
  bool is_first() const { return rank() == 0; }
  RankShare share(int64_t count) const { return share_of_rank(count, rank(), size()); }

  // Each rank's value, by rank.
  template <class T>
  std::vector<T> gather(const T& own) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<size_t>(size()));
    const Bytes bytes = std::as_bytes(std::span(&own, 1));
    std::vector<std::span<std::byte>> from;
    for (T& value : all) from.push_back(std::as_writable_bytes(std::span(&value, 1)));
    link_->exchange(std::vector<Bytes>(all.size(), bytes), from);
    return all;
  }

  // Tensors of float32, or of float64: sums[i] is the sum over all ranks r of weights[r] times their own[i], added up in float64 in
  // the order of the ranks and rounded once. All ranks have the same bits then. Each rank sends and receives 2 (size - 1) / size times
  // the bytes of the tensors. `sums` keeps the memory that it has.
  void sum(const std::vector<Tensor>& own, const std::vector<double>& weights, std::vector<Tensor>* sums);

  // A tensor of `rows` rows, of which each rank has its share.
  Tensor join_rows(const Tensor& own, int64_t rows);
  // Puts those of rank 0, whose types and shapes all ranks have, in place of the others'.
  void spread(std::vector<Tensor>* tensors);

  // Does work in which no rank waits for another. Where it fails on some ranks, all throw FailedTogether for the first of them.
  void together(const std::function<void()>& work);
  // Throws FailedTogether, with an Environment error that names the rank, where a rank has another text than rank 0. `when`: "after epoch 3".
  void check_same(const std::string& text, const std::string& what, const std::string& when);

  void end_all(int exit_code) { link_->end_all(exit_code); }

 private:
  template <class T>
  void sum_numbers(const std::vector<Tensor>& own, const std::vector<double>& weights, std::vector<Tensor>* sums);
  [[noreturn]] void fail_together(int rank, int exit_code, std::exception_ptr own);

  std::unique_ptr<RankLink> link_;
};

// The same where there may be one process alone: `ranks` null.
void together(Ranks* ranks, const std::function<void()>& work);

// The whole of a rank's run; returns its exit code. Of a failure of all together one rank says why, by `say_failure`, which is called while
// the exception is handled and returns its exit code. Any other failure ends all ranks.
int run_rank(Ranks& ranks, const std::function<void()>& work, const std::function<int()>& say_failure);

}  // namespace dnn::train
