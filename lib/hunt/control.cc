// Recipes of control flow: If, Loop and Scan with small bodies, which read values of the network around them.
#include "base/error.h"
#include "hunt/network.h"

namespace dnn::hunt {
namespace {

// A body under construction. Its values are called after the node that will have it, so that no name hides another.
struct Body {
  Growth& g;
  NewGraph net;

  Body(Growth& growth, const char* part) : g(growth) {
    net.set_name(cat("n", g.net.graph().order().size(), "/", part));
  }
  ValueId input(const char* name, const Type& type) { return net.input(cat(net.name(), "/", name), type); }
  // A value of the network around it.
  ValueId outer(ValueId v) {
    const ValueId here = net.graph().add_value(g.net.graph().value(v).name, g.net.type(v));
    net.graph().captures.push_back(here);
    return here;
  }
  ValueId number(double value) { return net.number(value, g.real); }
  // One to three nodes that keep a value's shape, and its size near 1.
  ValueId steps(ValueId v) {
    for (int64_t n = g.chance.between(1, 3); n > 0; --n) {
      switch (g.chance.between(0, 4)) {
        case 0: v = net.emit("Relu", {v}); break;
        case 1: v = net.emit("Tanh", {v}); break;
        case 2: v = net.emit("Mul", {v, number(g.chance.real(-1, 1))}); break;
        case 3: v = net.emit("Add", {number(g.chance.real(-1, 1)), v}); break;
        default: v = net.emit("Clip", {v, number(-1), number(1)});
      }
    }
    return v;
  }
  Attribute finish() { return std::make_shared<const Graph>(net.finish()); }
};

bool branch(Growth& g) {
  const ValueId asked = g.any_exact(-1), x = g.any(-1);
  if (asked == kNoValue || x == kNoValue) return false;
  const ValueId largest = g.emit("ReduceMax", {asked}, {{"keepdims", int64_t{0}}});
  const ValueId truth = g.emit("Greater", {largest, g.number(g.chance.real(0, 1.2))});
  Attributes a;
  for (const char* name : {"then_branch", "else_branch"}) {
    Body body(g, name);
    body.net.output(body.steps(body.outer(g.chance.is(0.7) ? x : g.like(x))));
    a[name] = body.finish();
  }
  g.emit("If", {truth}, a);
  return true;
}

// A state that each trip changes, and what each trip shows of it.
bool loop(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue || g.shape(x).size() > 4) return false;
  Body body(g, "body");
  const ValueId trip = body.input("trip", Type(DType::Int64, {}));
  const ValueId go = body.input("go", Type(DType::Bool, {}));
  const ValueId state = body.input("state", g.net.type(x));
  const bool heeded = g.chance.is(0.4);
  const ValueId again =
      heeded ? body.net.emit("Less", {trip, body.net.store("last", Tensor::scalar<int64_t>(g.chance.between(0, 3)))})
             : go;
  ValueId next = body.steps(state);
  if (g.chance.is(0.5)) next = body.net.emit("Add", {next, body.outer(g.like(x))});
  next = body.net.emit("Mul", {next, body.number(0.5)});
  body.net.output(again);
  body.net.output(next);
  const bool shows = g.chance.is(0.6);
  if (shows) body.net.output(body.net.emit("Neg", {next}));
  const ValueId trips = g.net.store("trips", Tensor::scalar<int64_t>(g.chance.between(0, 4)));
  const ValueId condition = heeded ? g.net.store("go", Tensor::scalar<bool>(true)) : kNoValue;
  g.emit_many("Loop", {trips, condition, x}, {{"body", body.finish()}}, shows ? 2 : 1);
  return true;
}

bool scan(Growth& g) {
  const ValueId x = g.any(-1);
  if (x == kNoValue || g.shape(x).size() < 2) return false;
  Shape slice = g.shape(x);
  const auto rank = static_cast<int64_t>(slice.size());
  const int64_t axis = g.chance.between(0, rank - 1);
  slice.erase(slice.begin() + axis);
  const Type type(g.real, std::vector<Dim>(slice.begin(), slice.end()));
  Body body(g, "body");
  const ValueId state = body.input("state", type), now = body.input("now", type);
  const ValueId sum = body.net.emit("Add", {state, now});
  body.net.output(body.net.emit("Mul", {body.steps(sum), body.number(0.5)}));
  body.net.output(g.chance.is(0.5) ? sum : body.steps(now));
  g.emit_many("Scan", {g.numbers(slice, -1, 1), x},
              {{"body", body.finish()},
               {"num_scan_inputs", int64_t{1}},
               {"scan_input_axes", std::vector<int64_t>{g.chance.is(0.3) ? axis - rank : axis}},
               {"scan_output_axes", std::vector<int64_t>{g.chance.between(0, rank - 1)}},
               {"scan_input_directions", std::vector<int64_t>{g.chance.between(0, 1)}},
               {"scan_output_directions", std::vector<int64_t>{g.chance.between(0, 1)}}},
              2);
  return true;
}

}  // namespace

std::vector<Recipe> control_recipes() {
  return {{"If", 0.3, kDetector, branch}, {"Loop", 0.3, kAny, loop}, {"Scan", 0.2, kAny, scan}};
}

}  // namespace dnn::hunt
