// The arena of a variant's steps; see arena.h.
#include "codegen/arena.h"

#include <algorithm>

namespace dnn::codegen {

Argument Arena::temporary(int64_t bytes, Argument::Kind kind) {
  temporary_.push_back({{bytes, -1, -1}, kind});
  return {kind, -1 - static_cast<int64_t>(temporary_.size()), kNoValue};
}

ValueId Arena::whole_of(ValueId id) const {
  const auto part = parts_.of.find(id);
  return part == parts_.of.end() ? id : part->second.whole;
}

void Arena::use(const Argument& a, int64_t bytes, int step, NodeId node) {
  if (!in_arena(a)) return;
  Life& life = a.value == kNoValue ? temporary_of(a)
                                   : lives_.try_emplace(whole_of(a.value), Life{{bytes, -1, -1}, a.kind}).first->second;
  if (life.steps.first < 0) life.steps.first = step;
  life.steps.last = step;
  if (!segments_.empty()) life.segments.insert(segments_.of[node]);
}

void Arena::keep(ValueId id, int step) {
  const auto life = lives_.find(id);
  if (life != lives_.end()) life->second.steps.last = std::max(life->second.steps.last, step);
}

void Arena::place(Variant* variant, const std::vector<ValueId>& outputs,
                  const std::function<int64_t(ValueId)>& element_bytes) {
  for (ValueId id : outputs) {  // a laid-out or repeated output is copied out at the end
    if (auto life = lives_.find(id); life != lives_.end())
      life->second.steps.last = static_cast<int>(variant->steps.size());
  }
  std::vector<Life*> all;
  for (Life& life : temporary_) all.push_back(&life);
  for (auto& [id, life] : lives_) all.push_back(&life);
  extend_over_runs(*variant, all);
  plan(all, Argument::Kind::Arena, &variant->arena_bytes);
  plan(all, Argument::Kind::Sample, &variant->sample_arena_bytes);
  std::vector<Placement>& values = variant->values;
  for (const auto& [id, life] : lives_) values[id].where.at = life.at;
  for (const auto& [id, part] : parts_.of)
    values[id].where.at = values[part.whole].where.at + part.element * element_bytes(id);
  for (Step& step : variant->steps) {
    for (Argument& a : step.arguments) {
      if (in_arena(a)) a.at = a.value == kNoValue ? temporary_of(a).at : values[a.value].where.at;
    }
  }
}

// Other samples use what a run of sampled steps reads and writes until it ends, and from its beginning.
void Arena::extend_over_runs(const Variant& variant, const std::vector<Life*>& all) const {
  const int end = static_cast<int>(variant.steps.size());
  for (int first = 0, last = 0; first < end; first = last + 1) {
    for (last = first; variant.joins_next(last);) ++last;
    for (Life* life : all) {
      if (life->kind == Argument::Kind::Sample || life->steps.first > last || life->steps.last < first) continue;
      life->steps.first = std::min(life->steps.first, first);
      life->steps.last = std::max(life->steps.last, last);
    }
  }
}

// True where each segment that uses the one is done before any begins that uses the other.
bool Arena::all_before(const Life& one, const Life& other) const {
  return std::all_of(one.segments.begin(), one.segments.end(), [&](size_t a) {
    return std::all_of(other.segments.begin(), other.segments.end(),
                       [&](size_t b) { return a == b ? one.steps.last < other.steps.first : segments_.before[a][b]; });
  });
}

void Arena::plan(const std::vector<Life*>& all, Argument::Kind kind, int64_t* bytes) const {
  std::vector<Lifetime> lifetimes;
  std::vector<Life*> lives;
  for (Life* life : all) {
    if (life->kind != kind) continue;
    lifetimes.push_back(life->steps);
    lives.push_back(life);
  }
  std::function<bool(size_t, size_t)> apart;
  if (!segments_.empty())
    apart = [&](size_t a, size_t b) { return all_before(*lives[a], *lives[b]) || all_before(*lives[b], *lives[a]); };
  const std::vector<int64_t> offsets = plan_memory(lifetimes, bytes, apart);
  for (size_t i = 0; i < lives.size(); ++i) lives[i]->at = offsets[i];
}

}  // namespace dnn::codegen
