// Random networks, each valid by construction, that find what nobody thought of: run on every device and level, in every framework and
// through every conversion, they have to give the same.
//
// The contract of lib/hunt: a network follows from its seed alone. Where an operator jumps (Floor, ArgMax, comparisons), it reads numbers
// that no rounding has touched, and where one is steep (Log, Div) what it reads keeps away from there; so whatever differs by more than
// rounding explains is a fault.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "hunt/chance.h"
#include "ops/build.h"

namespace dnn::hunt {

// The kinds of networks: which recipes they are made by.
using Kinds = unsigned;  // a bit for each
inline constexpr Kinds kAny = 0, kCnn = 1, kTransformer = 2, kDetector = 4;
inline constexpr Kinds kOnImages = kCnn | kDetector, kEach = kOnImages | kTransformer;
struct KindRow {
  Kinds kind;
  const char *name, *text;
};
const std::vector<KindRow>& kinds();

struct NetworkOptions {
  uint64_t seed = 0;
  Kinds kind = kAny;
  int steps = 12;               // recipes that are applied; most add one node
  DType real = DType::Float32;  // of inputs, weights and what follows from them: Float16, Float32, Float64 or BFloat16
  bool open = false;            // the first extent of every input is called N, and is 1
};

// A network of opset kIrOpset. Each value that nothing reads is an output. Types are fixed but for those that numbers decide
// (NonZero), and with `open`.
Graph random_network(const NetworkOptions& options);

// A network under construction, and what recipes ask of it.
class Growth {
 public:
  explicit Growth(const NetworkOptions& options);

  Chance chance;
  NewGraph net;
  const bool common;  // operators and attributes that most formats have, and no others
  const DType real;   // the type of what is not whole numbers or truths

  // A value of real numbers of that rank (-1: any above 0), the later the likelier; kNoValue: there is none.
  ValueId any(int rank) { return choose(rank, real, false); }
  ValueId any_exact(int rank) { return choose(rank, real, true); }  // that no rounding has touched
  ValueId any_of(DType dtype, int rank) { return choose(rank, dtype, false); }
  // Another one of the same type, not `v` itself where there is one.
  ValueId like(ValueId v);
  bool is_exact(ValueId v) const { return exact_.count(v) != 0; }
  void set_exact(ValueId v) { exact_.insert(v); }
  Shape shape(ValueId v) const { return net.shape(v); }

  // Adds nodes. What they make may be read from then on.
  ValueId emit(const std::string& op, const std::vector<ValueId>& inputs, Attributes attributes = {});
  std::vector<ValueId> emit_many(const std::string& op, const std::vector<ValueId>& inputs, Attributes attributes,
                                 size_t outputs);

  // Constants of real numbers: one, a list, random ones of [low, high); weights are such that sums of `terms` products keep their size.
  ValueId number(double value) { return net.number(value, real); }
  ValueId numbers(const Shape& shape, const std::vector<float>& values);
  ValueId numbers(const Shape& shape, double low, double high);
  ValueId weights(const Shape& shape, int64_t terms);
  ValueId integers(const Shape& shape, int64_t low, int64_t high, DType dtype = DType::Int64);  // of [low, high]

  int64_t real_code() const;  // the real type, as Cast's attribute "to" has it
  Graph finish();

 private:
  ValueId choose(int rank, DType dtype, bool exact);
  void made(const std::string& op, const std::vector<ValueId>& inputs, const std::vector<ValueId>& outputs);

  std::vector<ValueId> values_, made_;  // those that recipes may read; all that nodes made
  std::set<ValueId> exact_;
  uint64_t seed_;
  bool open_;
};

// One way for a network to grow. False, and nothing added: no value suits it.
struct Recipe {
  const char* name;
  double weight;  // how often it is taken, against others
  Kinds kinds;    // that have it; networks of any kind have each
  bool (*apply)(Growth&);
};
const std::vector<Recipe>& recipes();

// Rows of recipes(): elements.cc, layers.cc, tensors.cc, detection.cc, control.cc.
std::vector<Recipe> element_recipes();
std::vector<Recipe> layer_recipes();
std::vector<Recipe> tensor_recipes();
std::vector<Recipe> detection_recipes();
std::vector<Recipe> control_recipes();

}  // namespace dnn::hunt
