// Readable text and JSON lines; see text.h.
#include "stream/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/printable.h"

namespace dnn::stream {
namespace {

using dnn::number_text;
std::string number_text(double value) { return dnn::number_text(value, "%.6g"); }

std::string tensor_text(const Tensor& tensor) {
  std::string out = cat(dtype_name(tensor.dtype()), shape_text(tensor.shape()));
  const DTypeClass kind = dtype_class(tensor.dtype());
  if (tensor.size() == 0 || (kind == DTypeClass::Other && tensor.dtype() != DType::Bool)) return out;
  double low = INFINITY, high = -INFINITY, sum = 0;
  int64_t n_finite = 0;
  for (double v : to_doubles(tensor)) {
    if (!std::isfinite(v)) continue;
    low = std::min(low, v);
    high = std::max(high, v);
    sum += v;
    ++n_finite;
  }
  if (n_finite > 0)
    out +=
        cat(" ", number_text(low), "..", number_text(high), " mean ", number_text(sum / static_cast<double>(n_finite)));
  if (n_finite < tensor.size()) out += cat(" (", tensor.size() - n_finite, " not finite)");
  return out;
}

// A second-level line: "            key  value".
std::string detail(const std::string& key, const std::string& value) {
  return value.empty() ? "" : "\n            " + key + std::string(key.size() < 12 ? 12 - key.size() : 1, ' ') + value;
}

std::string to_text(const Header& h) {
  std::string out = "header      " + plain(h.tool) + ", stream version " + std::to_string(kStreamVersion);
  out += detail("command", plain(join(h.command, " ")));
  out += detail("model", plain(h.model.path));
  out += detail("format", plain(h.model.format));
  out += detail("sha256", plain(h.model.sha256));
  if (h.opt) out += detail("opt", cat("-O", *h.opt));
  out += detail("device", plain(h.device));
  out += detail("passes", plain(h.passes));
  out += detail("isa", plain(h.isa));
  out += detail("dtype", plain(h.dtype));
  if (!h.label_set.empty()) {
    out += detail("labels", plain(h.label_set) + (h.label_offset == 0 ? "" : cat(", class - ", h.label_offset)));
  }
  out += detail("preprocess", clean(h.preprocess));
  if (h.batch) out += detail("batch", cat(*h.batch));
  if (h.threads) out += detail("threads", cat(*h.threads));
  out += detail("affinity", plain(h.affinity));
  out += detail("shard", plain(h.shard));
  out += detail("latency", plain(h.latency_contains));
  if (h.topology) out += detail("topology", topology_text(*h.topology));
  for (const auto& [key, value] : h.host) out += detail("host", plain(key + ": " + value));
  for (const Header& input : h.inputs) out += detail("made from", plain(join(input.command, " ")));
  return out;
}

std::string to_text(const Sample& s) {
  std::string out = cat("sample      ", s.id, "  ", plain(s.path));
  if (s.truth) out += cat("  truth ", *s.truth);
  if (s.tensor.defined()) out += "  " + tensor_text(s.tensor);
  return out;
}

std::string to_text(const Prediction& p) {
  std::string out = cat("prediction  ", p.sample);
  if (p.latency_ns) out += "  " + number_text(static_cast<double>(*p.latency_ns) * 1e-6, "%.3f") + " ms";
  if (p.batch != 1) out += cat(" for a batch of ", p.batch);
  for (const Prediction::Class& c : p.top_k) {
    out +=
        cat("\n            ", number_text(c.score), "  class ", c.index, c.label.empty() ? "" : "  " + plain(c.label));
  }
  for (const auto& [name, tensor] : p.outputs) out += detail("output", plain(name) + "  " + tensor_text(tensor));
  return out;
}

std::string to_text(const TensorRecord& t) {
  std::string out = cat("tensor      ", plain(t.name), "  ", role_name(t.role), t.recomputed ? " (recomputed)" : "");
  if (t.sample) out += cat("  sample ", *t.sample);
  if (!t.node.empty() && t.node != t.name) out += "  node " + plain(t.node);
  out += "  " + tensor_text(t.tensor);
  if (!t.axes.empty()) out += "  " + plain(t.axes);
  return out;
}

std::string process_text(const ProcessUsage& p) {
  std::string out;
  const auto count = [&](const char* name, const std::optional<int64_t>& n) {
    if (n) out += cat("  ", name, " ", *n);
  };
  if (p.cpu_percent) out += cat("  cpu ", number_text(*p.cpu_percent), " %");
  if (p.cpu_time_ns) out += cat("  cpu time ", number_text(static_cast<double>(*p.cpu_time_ns) * 1e-6, "%.1f"), " ms");
  if (p.memory_bytes) out += cat("  memory ", *p.memory_bytes, " bytes");
  if (p.memory_peak_bytes) out += cat("  peak ", *p.memory_peak_bytes, " bytes");
  count("minor faults", p.minor_faults);
  count("major faults", p.major_faults);
  count("voluntary switches", p.voluntary_switches);
  count("involuntary switches", p.involuntary_switches);
  return out;
}

std::string to_text(const Usage& u) {
  std::string out = cat("usage       ", number_text(static_cast<double>(u.time_ns) * 1e-9, "%.3f"), " s");
  out += process_text(u.process);
  if (u.frequency_mhz) out += cat("  ", number_text(*u.frequency_mhz, "%.0f"), " MHz");
  if (u.energy_mj) out += cat("  energy ", number_text(*u.energy_mj), " mJ");
  if (u.gpu_percent) out += cat("  gpu ", number_text(*u.gpu_percent), " %");
  if (u.gpu_memory_bytes) out += cat("  gpu memory ", *u.gpu_memory_bytes, " bytes");
  if (u.gpu_energy_mj) out += cat("  gpu energy ", number_text(*u.gpu_energy_mj), " mJ");
  if (u.sampler_ns) out += cat("  sampler ", number_text(static_cast<double>(*u.sampler_ns) * 1e-6, "%.1f"), " ms");
  if (u.network) out += detail("network", std::string(trimmed(process_text(*u.network))));
  if (!u.cores_percent.empty()) {
    std::vector<std::string> cores;
    for (const std::optional<double>& percent : u.cores_percent) {
      cores.push_back(percent ? number_text(*percent, "%.0f") : "-");
    }
    out += detail("cores %", join(cores, " "));
  }
  return out;
}

std::string to_text(const End& end) {
  std::string out = "end        ";
  for (const auto& [key, n] : end.records) out += cat(" ", n, " ", plain(key));
  return out;
}

}  // namespace

std::string record_to_text(const Record& record) {
  return std::visit([](const auto& r) { return to_text(r); }, record);
}

std::string topology_text(const Topology& t) {
  std::vector<std::string> parts;
  const auto add = [&](int n, const char* one, const char* many) {
    if (n > 0) parts.push_back(cat(n, " ", n == 1 ? one : many));
  };
  add(t.sockets, "socket", "sockets");
  add(t.cores, "core", "cores");
  add(t.processors, "processor", "processors");
  add(t.numa_nodes, "NUMA node", "NUMA nodes");
  for (const Topology::Cache& cache : t.caches) {
    parts.push_back(cat(plain(cache.name), " ", cache.size_bytes / 1024, " KiB x", cache.count));
    if (cache.shared_by > 1) parts.back() += cat(" for ", cache.shared_by, " processors each");
  }
  if (!t.core_classes.empty()) parts.push_back("cores, fastest first: " + plain(join(t.core_classes, " > ")));
  return join(parts);
}

bool LineReader::next_line(std::string* line) {
  size_t searched = used_;
  while (true) {
    const size_t newline = buffer_.find('\n', searched);
    if (newline != std::string::npos) {
      *line = buffer_.substr(used_, newline - used_);
      used_ = newline + 1;
      return true;
    }
    if (ended_) {
      *line = buffer_.substr(used_);
      used_ = buffer_.size();
      return !line->empty();
    }
    buffer_.erase(0, used_);
    used_ = 0;
    searched = buffer_.size();
    char chunk[1 << 16];
    const size_t n = source_.read(reinterpret_cast<std::byte*>(chunk), sizeof chunk);
    buffer_.append(chunk, n);
    ended_ = n == 0;
  }
}

std::optional<Record> LineReader::next() {
  std::string line;
  while (next_line(&line)) {
    ++line_i_;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      if (std::optional<Record> record = record_from_json(line)) return record;
    } catch (Error& e) {
      e.within(cat(name_, ": line ", line_i_));
      throw;
    }
  }
  return std::nullopt;
}

}  // namespace dnn::stream
