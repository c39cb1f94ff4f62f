// Variants to and from FlatBuffers; see variant_fb.h.
#include "package/variant_fb.h"

#include <algorithm>
#include <set>

#include "base/sha256.h"
#include "package/placed.h"

namespace dnn {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr int64_t kMostBytes = int64_t{1} << 40, kMostThreads = 1024;
constexpr int32_t kMostSlots = 1 << 24;

std::string code_digest(const Code& code) {
  return sha256_hex({as_bytes(code.source), as_bytes(std::string_view("\0", 1)), as_bytes(code.binary)});
}

fb::Argument packed_argument(const Argument& a) { return fb::Argument(a.at, a.value, static_cast<uint8_t>(a.kind)); }

Argument unpacked_argument(const fb::Argument& a) { return {static_cast<Argument::Kind>(a.kind()), a.at(), a.value()}; }

Offset<fb::Target> pack_target(FlatBufferBuilder& b, const VariantTarget& target) {
  const auto backend = b.CreateString(target.backend), isa = b.CreateString(target.isa);
  const auto extensions = b.CreateVectorOfStrings(target.extensions);
  const auto processor = b.CreateString(target.processor);
  return fb::CreateTarget(b, backend, isa, extensions, processor);
}

VariantTarget unpack_target(const fb::Target* target) {
  if (target == nullptr) fail_malformed("a variant has no target");
  VariantTarget result = {text_of(target->backend()), text_of(target->isa()), {}, text_of(target->processor())};
  if (target->extensions() != nullptr) {
    for (const auto* extension : *target->extensions()) result.extensions.push_back(extension->str());
  }
  return result;
}

Offset<fb::Step> pack_step(FlatBufferBuilder& b, const Step& step) {
  std::vector<fb::Argument> arguments;
  for (const Argument& a : step.arguments) arguments.push_back(packed_argument(a));
  const auto list = b.CreateVectorOfStructs(arguments);
  const auto strides = b.CreateVector(step.strides);
  return fb::CreateStep(b, step.kernel, step.node, list, step.flops, step.bytes, step.samples, strides);
}

Step unpack_step(const fb::Step& s) {
  Step step{s.kernel(), s.node(), {}, s.flops(), s.bytes(), s.samples()};
  check_alignment(s.arguments(), alignof(fb::Argument));
  if (s.arguments() != nullptr) {
    for (const auto* a : *s.arguments()) step.arguments.push_back(unpacked_argument(*a));
  }
  step.strides = numbers_of(s.strides());
  return step;
}

Offset<fb::Code> pack_code(FlatBufferBuilder& b, const Code& code, const StoreBlob& store) {
  const auto digest = b.CreateString(code_digest(code));
  const auto source = store(as_bytes(code.source)), binary = store(as_bytes(code.binary));
  const auto tasks = b.CreateVector(code.tasks);
  const bool any = std::any_of(code.threads.begin(), code.threads.end(), [](int64_t n) { return n > 0; });
  const auto threads = any ? b.CreateVector(code.threads) : Offset<flatbuffers::Vector<int64_t>>();
  return fb::CreateCode(b, source, binary, digest, tasks, threads);
}

Code unpack_code(const fb::Code* c, const std::string& isa, bool to_run, const BlobSource& blobs) {
  if (c == nullptr) fail_malformed("the code for ", isa, " is missing");
  // The copy that runs is looked at: who may write the file could change the file's bytes behind a check.
  Code code{{}, std::string(as_text(blobs.find(c->binary()))), {}, {}};
  bool good = false;
  if (to_run && !code.binary.empty()) {
    blobs.check(c->source());
    good = blobs.are(c->binary(), as_bytes(code.binary));
  } else {
    code.source = as_text(blobs.find(c->source()));
    good = code_digest(code) == text_of(c->sha256());
  }
  if (!good) fail_malformed("the code for ", isa, " is damaged");
  code.tasks = numbers_of(c->tasks());
  code.threads = numbers_of(c->threads());
  if (c->threads() == nullptr) code.threads.assign(code.tasks.size(), 0);
  return code;
}

void check_argument(const Argument& a, const Variant& v, size_t constants) {
  const auto within = [&](size_t n, const char* what) {
    if (a.at < 0 || static_cast<size_t>(a.at) >= n) fail_plan(what, " ", a.at);
  };
  if (a.value < kNoValue || a.value >= v.graph->value_count()) fail_plan("an argument names value ", a.value);
  switch (a.kind) {
    case Argument::Kind::Arena:
      if (a.at < 0 || a.at > v.arena_bytes) fail_plan("arena offset ", a.at);
      return;
    case Argument::Kind::Sample:
      if (a.at < 0 || a.at > v.sample_arena_bytes) fail_plan("offset ", a.at, " in a sample's arena");
      return;
    case Argument::Kind::Constant: return within(constants, "constant");
    case Argument::Kind::Input: return within(v.graph->inputs.size(), "input");
    case Argument::Kind::Output: return within(v.graph->outputs.size(), "output");
    case Argument::Kind::Slot: return within(v.slots, "slot");
    case Argument::Kind::None: return;
  }
  fail_plan("argument kind ", static_cast<int>(a.kind));
}

void check_step(const Step& s, const Variant& v, size_t constants) {
  if (s.kernel < -1 || s.kernel >= static_cast<int32_t>(v.kernels.size())) fail_plan("kernel ", s.kernel);
  if (s.node < 0 || s.node >= v.graph->node_slots() || !v.graph->alive(s.node)) fail_plan("node ", s.node);
  for (const Argument& a : s.arguments) check_argument(a, v, constants);
  if (s.samples < 1 || s.samples > (1 << 20) || s.strides.size() != (s.samples > 1 ? s.arguments.size() : 0) ||
      (s.samples > 1 && s.kernel < 0)) {
    fail_plan("a step for ", s.samples, " samples with ", s.strides.size(), " strides");
  }
  for (int64_t stride : s.strides) {
    if (stride < 0 || stride > kMostBytes / s.samples) fail_plan("a stride of ", stride, " bytes");
  }
}

void check_code(const Variant& v) {
  const std::string& isa = v.target.isa;
  if (v.code.tasks.size() != v.kernels.size()) fail_plan("code ", isa, " has ", v.code.tasks.size(), " task counts");
  if (v.code.threads.size() != v.kernels.size())
    fail_plan("code ", isa, " has ", v.code.threads.size(), " thread counts");
  for (int64_t n : v.code.tasks) {
    if (n < 1) fail_plan("code ", isa, " has a kernel of ", n, " tasks");
  }
  for (int64_t n : v.code.threads) {
    if (n < 0 || n > kMostThreads) fail_plan("code ", isa, " has tasks of ", n, " threads");
  }
}

void check_state(const Variant& v) {
  const Graph& graph = *v.graph;
  std::set<int32_t> outputs, inputs;
  for (const auto& [output, input] : v.state) {
    if (output < 0 || static_cast<size_t>(output) >= graph.outputs.size() || input < 0 ||
        static_cast<size_t>(input) >= graph.inputs.size() || !outputs.insert(output).second ||
        !inputs.insert(input).second)
      fail_plan("output ", output, " is to be input ", input);
    const Type& from = graph.value(graph.outputs[output]).type;
    const Type& to = graph.value(graph.inputs[input]).type;
    if (!from.fixed() || from.text() != to.text()) fail_plan("output ", output, " is not of the type of input ", input);
  }
}

// Float32 numbers between steps may lie in 16 bits, and nothing else may lie in another type than its own.
void check_type(const Variant& v, size_t value) {
  const Placement& p = v.values[value];
  if (p.dtype == DType::Undefined) return;
  const bool narrow = p.dtype == DType::BFloat16 || p.dtype == DType::Float16;
  const bool between = p.where.kind == Argument::Kind::Arena || p.where.kind == Argument::Kind::Sample;
  if (!narrow || !between || v.graph->value(static_cast<ValueId>(value)).type.dtype != DType::Float32)
    fail_plan("value ", value, " in memory of type ", static_cast<int>(p.dtype));
}

void check(const Variant& v, size_t constants) {
  if (v.arena_bytes < 0 || v.arena_bytes > kMostBytes || v.slots < 0 || v.slots > kMostSlots)
    fail_plan("arena of ", v.arena_bytes, " bytes");
  if (v.sample_arena_bytes < 0 || v.sample_arena_bytes > kMostBytes)
    fail_plan("an arena of ", v.sample_arena_bytes, " bytes a sample");
  for (size_t i = 0; i < v.values.size(); ++i) {
    check_argument(v.values[i].where, v, constants);
    check_type(v, i);
  }
  for (const Step& s : v.steps) check_step(s, v, constants);
  check_state(v);
  if (v.compiled()) check_code(v);
}

}  // namespace

Offset<fb::Variant> pack_variant(FlatBufferBuilder& b, const Variant& variant, uint32_t graph, const StoreBlob& store) {
  const auto target = pack_target(b, variant.target);
  std::vector<Offset<fb::Kernel>> kernels;
  for (const KernelInfo& k : variant.kernels) {
    const auto name = b.CreateString(k.name), pattern = b.CreateString(k.pattern);
    kernels.push_back(fb::CreateKernel(b, name, pattern));
  }
  std::vector<Offset<fb::Step>> steps;
  for (const Step& s : variant.steps) steps.push_back(pack_step(b, s));
  std::vector<Offset<fb::Placement>> values;
  for (const Placement& v : variant.values) {
    const auto layout = b.CreateString(v.layout);
    const fb::Argument where = packed_argument(v.where);
    values.push_back(fb::CreatePlacement(b, &where, layout, static_cast<uint8_t>(v.dtype)));
  }
  const auto ks = b.CreateVector(kernels);
  const auto ss = b.CreateVector(steps);
  const auto vs = b.CreateVector(values);
  std::vector<fb::State> state;
  for (const StateAlias& alias : variant.state) state.emplace_back(alias.output, alias.input);
  const auto aliases = b.CreateVectorOfStructs(state);
  const auto code = variant.compiled() ? pack_code(b, variant.code, store) : Offset<fb::Code>();
  return fb::CreateVariant(b, target, graph, ks, ss, vs, variant.arena_bytes, variant.sample_arena_bytes, variant.slots,
                           code, aliases);
}

Variant unpack_variant(const fb::Variant* v, const std::vector<std::shared_ptr<const Graph>>& graphs, size_t constants,
                       bool to_run, const BlobSource& blobs) {
  Variant variant;
  variant.target = unpack_target(v->target());
  if (v->graph() >= graphs.size()) fail_plan("a variant of graph ", v->graph());
  variant.graph = graphs[v->graph()];
  if (v->kernels() != nullptr) {
    for (const auto* k : *v->kernels()) variant.kernels.push_back({text_of(k->name()), text_of(k->pattern())});
  }
  if (v->steps() != nullptr) {
    for (const auto* s : *v->steps()) variant.steps.push_back(unpack_step(*s));
  }
  if (v->values() != nullptr) {
    for (const auto* p : *v->values()) {
      if (p->where() == nullptr) fail_malformed("a placement is missing");
      variant.values.push_back({unpacked_argument(*p->where()), text_of(p->layout()), static_cast<DType>(p->dtype())});
    }
  }
  if (static_cast<int>(variant.values.size()) > variant.graph->value_count())
    fail_malformed(variant.values.size(), " placements");
  variant.values.resize(variant.graph->value_count());
  variant.arena_bytes = v->arena_bytes();
  variant.sample_arena_bytes = v->sample_arena_bytes();
  variant.slots = v->slots();
  check_alignment(v->state(), alignof(fb::State));
  if (v->state() != nullptr) {
    for (const auto* alias : *v->state()) variant.state.push_back({alias->output(), alias->input()});
  }
  if (variant.compiled()) variant.code = unpack_code(v->code(), variant.target.isa, to_run, blobs);
  check(variant, constants);
  return variant;
}

}  // namespace dnn
