// Ranks in memory: threads of one process, for tests of what ranks compute.
#pragma once
#include <algorithm>
#include <barrier>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "train/ranks.h"

namespace dnn::train {

// end_all() of a thread's rank.
struct EndedAll : std::runtime_error {
  explicit EndedAll(int code) : std::runtime_error("a rank ended all"), exit_code(code) {}
  int exit_code;
};

class ThreadLink : public RankLink {
 public:
  struct Board {
    explicit Board(int n) : ranks(n), sent(static_cast<size_t>(n)), barrier(n) {}
    int ranks;
    std::vector<const std::vector<Bytes>*> sent;
    std::barrier<> barrier;
  };
  ThreadLink(std::shared_ptr<Board> board, int rank) : board_(std::move(board)), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return board_->ranks; }
  void exchange(const std::vector<Bytes>& to, const std::vector<std::span<std::byte>>& from) override {
    board_->sent[rank_] = &to;
    board_->barrier.arrive_and_wait();
    bool fits = true;
    for (int r = 0; r < size(); ++r) {
      const Bytes part = (*board_->sent[r])[rank_];
      fits = fits && part.size() == from[r].size();
      std::copy_n(part.begin(), std::min(part.size(), from[r].size()), from[r].begin());
    }
    board_->barrier.arrive_and_wait();
    if (!fits) throw std::logic_error("what is sent and what is received have other sizes");
  }
  void end_all(int exit_code) override { throw EndedAll(exit_code); }

 private:
  std::shared_ptr<Board> board_;
  int rank_;
};

// Runs body in a thread for each rank; rethrows what the lowest rank throws. All must throw where one does.
inline void run_ranks(int n, const std::function<void(Ranks& ranks)>& body) {
  const auto board = std::make_shared<ThreadLink::Board>(n);
  std::vector<std::exception_ptr> failures(static_cast<size_t>(n));
  std::vector<std::thread> threads;
  for (int r = 0; r < n; ++r) {
    threads.emplace_back([&, r] {
      try {
        Ranks ranks(std::make_unique<ThreadLink>(board, r));
        body(ranks);
      } catch (...) {
        failures[r] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace dnn::train
