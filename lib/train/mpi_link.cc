// Ranks over MPI; see mpi_link.h.
#include "train/mpi_link.h"

#include "base/error.h"
#include "base/shared_library.h"
#include "base/text.h"
#include "train/mpi_module.h"

namespace dnn::train {
namespace {

class MpiLink : public RankLink {
 public:
  explicit MpiLink(const DnnMpi& mpi) : mpi_(mpi) { check(mpi_.start(&rank_, &size_)); }
  ~MpiLink() override { mpi_.finish(); }
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void exchange(const std::vector<Bytes>& to, const std::vector<std::span<std::byte>>& from) override {
    std::vector<const void*> out;
    std::vector<void*> in;
    std::vector<uint64_t> out_bytes, in_bytes;
    for (const Bytes& part : to) {
      out.push_back(part.data());
      out_bytes.push_back(part.size());
    }
    for (const std::span<std::byte>& part : from) {
      in.push_back(part.data());
      in_bytes.push_back(part.size());
    }
    check(mpi_.exchange(out.data(), out_bytes.data(), in.data(), in_bytes.data()));
  }

  void end_all(int exit_code) override {
    mpi_.end_all(exit_code);
    fail_internal("MPI_Abort returned");
  }

 private:
  static void check(const char* failure) {
    if (failure != nullptr) fail_environment("--mpi: ", failure);
  }

  const DnnMpi& mpi_;
  int rank_ = 0, size_ = 1;
};

std::filesystem::path module_file() {
  // As an installation has it, and a build.
  std::filesystem::path file = (program_folder() / "../lib/dnn-tools/dnn-mpi.so").lexically_normal();
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    fail_environment(
        "--mpi: no ", file.string(),
        ", which a build makes where MPI's headers are: apt-get install libopenmpi-dev, then scripts/setup");
  return file;
}

const SharedLibrary& module() {
  static const std::unique_ptr<SharedLibrary> loaded = SharedLibrary::open({module_file().string()});
  if (loaded == nullptr)
    fail_environment("--mpi: ", module_file().string(),
                     " cannot be loaded, it wants Open MPI: apt-get install openmpi-bin");
  return *loaded;
}

}  // namespace

std::string find_mpi() {
  module();
  return module_file().string();
}

std::unique_ptr<RankLink> join_mpi_ranks() {
  return std::make_unique<MpiLink>(*module().function<decltype(dnn_mpi_1)>(DNN_MPI_FUNCTION)());
}

void refuse_unasked_ranks(const std::function<std::string(const std::string& name)>& variable) {
  // Open MPI, MPICH and what speaks as it does, srun: the processes of one launch.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    int64_t ranks = 0;
    if (parse_int(variable(name), &ranks) && ranks > 1)
      fail_usage(ranks, " processes were started (", name,
                 "), and each would train the whole network: --mpi shares the work out among them; unset ", name,
                 " where they have nothing to do with each other");
  }
}

}  // namespace dnn::train
