// Devices: where a package runs. One interface, one file and one row of devices.def per kind of device.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/device_spec.h"
#include "interp/interpreter.h"
#include "package/package.h"
#include "tensor/budget.h"

namespace dnn {

struct DeviceOptions {
  int threads = 0;  // including the caller's; 0: the processors this process may use
  std::string isa;  // force one of the package's variants; "": the best that the processor has
  // Where a device has threads of its own making, each is kept to one of these in turn; empty: wherever the system has them.
  std::vector<int> processors = {};
  std::string key_file = {};  // of a dnn-serve that wants one
  // For lib:NAME alone, see library.h.
  std::string model_file = {}, model_format = {};  // what the framework loads
  bool trust_model = false;                        // the user's own file may be loaded even where it may hold code
  std::optional<int> opt = {};                     // level, where the framework has levels
  std::function<std::string(const std::string& variable)> variable =
      {};  // environment variables; "" for one that is not there
};

namespace stream {
struct Header;
}

struct StepProfile {
  int64_t time_ns = 0;  // total over the profiled runs
  int64_t runs = 0;
};

// A package loaded on a device. Not thread-safe; different sessions are independent.
class Session {
 public:
  virtual ~Session() = default;
  const Package& package() const { return *package_; }
  // The one of its variants that runs.
  const Variant& variant() const { return *variant_; }
  const Graph& graph() const { return *variant_->graph; }
  // Instruction set or device name that the run really uses.
  virtual std::string isa() const { return {}; }
  virtual int threads() const { return 1; }
  // Processors that its threads are each kept to one of, in turn. The first is for the thread that calls run(), which is its caller's
  // to pin. Empty: wherever the system has them.
  virtual std::vector<int> pinned_to() const { return {}; }
  // The level that runs; none where the device has no levels.
  virtual std::optional<int> opt() const { return package_->info.opt; }
  // What else a run's header says of where it runs: versions, what fell back.
  virtual std::map<std::string, std::string> facts() const { return {}; }
  // What a header says of the machine that runs the network, where it is not this one.
  virtual const stream::Header* machine() const { return nullptr; }
  // The process that runs the network, where it is not this one.
  virtual std::optional<int> process() const { return std::nullopt; }

  // One inference: inputs in the graph's order and of its types, outputs in its order. The outputs belong to the caller. An input that is
  // the variant's state may be no tensor: it is then what the last run left there, in the memory where that run wrote it.
  virtual std::vector<Tensor> run(const std::vector<Tensor>& inputs) = 0;
  // Several at once: as many may be on their way. submit() begins an inference, collect() gives what run() would for the oldest that was not
  // collected yet. Here one at a time, which runs in collect().
  virtual size_t most_in_flight() const { return 1; }
  virtual void submit(const std::vector<Tensor>& inputs);
  virtual std::vector<Tensor> collect();
  // How long the last run() took, or the inference that was collected last, where the device knows better than a clock around it.
  virtual std::optional<int64_t> latency_ns() const { return std::nullopt; }
  virtual std::string latency_contains() const { return {}; }
  // How much longer the caller waited for it, where it came from another machine.
  virtual std::optional<int64_t> transport_ns() const { return std::nullopt; }
  // True where an emulator runs it: neither the device nor a clock of the caller's then measures the processor that is stood for.
  virtual bool is_emulated() const { return false; }
  // The same, with every value of the variant's graph shown as it is made (row-major). The outputs are the same bits.
  virtual std::vector<Tensor> trace(const std::vector<Tensor>& inputs, const Observer& observe) = 0;
  // The same again, where what is shown a value may also run the rest of the network otherwise, as often as it likes: `resume` gives
  // the outputs with other tensors (row-major, of the values' types) in the place of values that were made, this one or ones
  // before it that only what follows reads. The run itself goes on unchanged. Throws Unsupported on a device that cannot.
  using Instead = std::vector<std::pair<ValueId, Tensor>>;
  using Resume = std::function<std::vector<Tensor>(const Instead& instead)>;
  using Fork = std::function<void(ValueId id, const Tensor& value, const Resume& resume)>;
  virtual std::vector<Tensor> fork(const std::vector<Tensor>& inputs, const Fork& observe);
  // While on, run() adds up the time of each step; steps are those of the variant.
  virtual void enable_profile(bool) {}
  virtual std::vector<StepProfile> profile() const { return {}; }

 protected:
  // `variant`: one of the package's; null: the first.
  explicit Session(std::shared_ptr<const Package> package, const Variant* variant = nullptr);
  // What the tensors of a run on these inputs may take (devices/activations.h); state that is no tensor here counts as it is declared.
  TensorBudget run_budget(const std::vector<Tensor>& inputs) const;
  // Throws Malformed unless the inputs fit the package's input types.
  void check_inputs(const std::vector<Tensor>& inputs) const;
  // The inputs of a run, state filled in. Throws Usage where no run has left any.
  std::vector<Tensor> with_state(const std::vector<Tensor>& inputs) const;
  // Of a run that ended: keeps what is state.
  void keep_state(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs);
  // For an output that is state, memory that an earlier run used for it; no tensor where there is none.
  Tensor take_spare(size_t output);
  std::shared_ptr<const Package> package_;
  const Variant* variant_;

 private:
  const uint64_t constant_bytes_, declared_input_bytes_;
  std::vector<Tensor> state_, spare_;  // by number in Variant::state
  std::vector<Tensor> submitted_;
};

struct Device {
  const char* kind;   // "cpu"
  const char* usage;  // "cpu", "opencl:N", "lib:NAME"
  // `index` is the N of "kind:N" ("" when left out). Throws Environment saying what to install when it is not here.
  std::unique_ptr<Session> (*open)(std::shared_ptr<const Package> package, const std::string& index,
                                   const DeviceOptions& options);
  // One line per device of this kind that is here: "name<tab>description"; empty when there is none. Throws Environment where
  // they cannot be listed.
  std::vector<std::string> (*list)(const DeviceOptions& options);

  const char* target() const;  // the backend whose code it runs (target/backend.h); "" for a device that needs none
};

// Why what an emulator takes is not reported.
inline constexpr const char* kEmulated = "an emulator's times say nothing of the processor";
// Throws Unsupported where an emulator runs the session: for what measures it. `device` is its name.
void refuse_emulated(const Session& session, const DeviceSpec& device);

const std::vector<Device>& devices();
// All lines of `row.list()`. Where they cannot be listed, none, and `problem` is told why.
std::vector<std::string> list_devices(const Device& row, const DeviceOptions& options,
                                      const std::function<void(const std::string& why)>& problem);
std::unique_ptr<Session> open_session(const DeviceSpec& device, std::shared_ptr<const Package> package,
                                      const DeviceOptions& options = {});

}  // namespace dnn
