// Making edits of quantisers; see quantised_edits.h.
#include "localize/quantised_edits.h"

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "localize/quantised_order.h"
#include "localize/quantised_scaling.h"

namespace dnn {
namespace {

const std::vector<const char*> kKeys = {"scale", "zero point", "axis", "integers", "order"};

NodeId quantiser_of(const Graph& graph, const std::string& name) {
  const ValueId v = graph.find_value(name);
  const NodeId maker = v == kNoValue ? -1 : Uses(graph).producer[v];
  if (maker < 0 || (graph.node(maker).op != "QuantizeLinear" && graph.node(maker).op != "DequantizeLinear"))
    fail_usage("no quantiser of the target makes '", plain(name), "': are these the edits of these two models?");
  return maker;
}

// The scale or zero points at an input become these numbers; one for all, or as many as there are.
void set_numbers(const Edit& edit, NodeId node, size_t input, Graph& target) {
  const ValueId old = target.node(node).input(input);
  const Tensor* before = target.constant(old);
  if (before == nullptr) fail_unsupported("'", plain(edit.target), "' has no constant ", edit.key);
  if (edit.numbers.size() != static_cast<size_t>(before->size()))
    fail_unsupported(edit.numbers.size(), " numbers for ", before->size(), " of '", plain(edit.target), "'");
  const std::string name = target.value(old).name;
  set_constant(target, node, input, convert(Tensor::of<double>(before->shape(), edit.numbers), before->dtype()), name);
}

// The source's number at each place of a constant that a layer reads, rows of outputs of weights or of a bias.
std::vector<double> source_numbers(const Edit& edit, const Graph& source, const Node& reader, const Shape& shape,
                                   std::vector<size_t>* rows) {
  const ValueId made = source.find_value(edit.source);
  const NodeId maker = made == kNoValue ? -1 : Uses(source).producer[made];
  if (maker < 0)
    fail_usage("no layer of the source makes '", plain(edit.source), "': are these the edits of these two models?");
  const Node& from = source.node(maker);
  const Tensor* tensor = source.constant(from.input(edit.input));
  const size_t n = element_count(shape);
  std::vector<double> numbers(n, 0);
  rows->resize(n);
  if (edit.input == 1) {
    const auto ours = tensor == nullptr ? std::nullopt : weight_rows(from, tensor->shape(), to_doubles(*tensor));
    const auto theirs = weight_rows(reader, shape, numbers);
    if (!ours || !theirs || ours->n != theirs->n || ours->width != theirs->width)
      fail_unsupported("the weights of '", plain(edit.source), "' do not fit");
    if ((!edit.divided.empty() && edit.divided.size() != ours->n) ||
        (!edit.multiplied.empty() && (ours->width * ours->n) % edit.multiplied.size() != 0))
      fail_unsupported("the factors of '", plain(edit.source), "' do not fit");
    const std::vector<double> scales = element_scales(from, *ours, {edit.divided, edit.multiplied, {}, {}});
    for (size_t place = 0; place < n; ++place) {
      numbers[theirs->elements[place]] = ours->numbers[place] * scales[place];
      (*rows)[theirs->elements[place]] = place / theirs->width;
    }
    return numbers;
  }
  if (tensor != nullptr && static_cast<size_t>(tensor->size()) != n)
    fail_unsupported("the bias of '", plain(edit.source), "' does not fit");
  if (tensor != nullptr) numbers = to_doubles(*tensor);
  for (size_t i = 0; i < n; ++i) {
    (*rows)[i] = i;
    if (edit.divided.size() == n) numbers[i] /= edit.divided[i];
  }
  return numbers;
}

// Integers that a layer reads.
QuantisedConstant integers_of(const Edit& edit, const Uses& uses, NodeId node, const Graph& target) {
  const auto first_reader = [&](NodeId id) {
    const std::vector<NodeId>& readers = uses.readers[target.node(id).output(0)];
    return readers.empty() ? NodeId{-1} : readers[0];
  };
  NodeId reader = first_reader(node);
  while (reader >= 0 && only_moves_weights(target.node(reader))) reader = first_reader(reader);
  auto held = reader < 0 ? std::nullopt : quantised_constant(target, uses, reader, edit.input);
  if (!held || held->dequantize != node)
    fail_unsupported("'", plain(edit.target), "' is no constant of integers that a layer reads");
  return std::move(*held);
}

void set_order(const Edit& edit, NodeId node, Graph& target) {
  const Uses uses(target);
  const QuantisedConstant held = integers_of(edit, uses, node, target);
  const ValueId old = target.node(node).input(0);
  const Tensor& before = *target.constant(old);
  const std::vector<double> there = to_doubles(before);
  std::vector<double> integers = there;
  const std::string name = target.value(old).name;
  if (edit.input == 2) {
    if (there.empty() || edit.rows.size() != there.size() ||
        *std::max_element(edit.rows.begin(), edit.rows.end()) >= there.size())
      fail_unsupported("the integers of '", plain(edit.target), "' have no such order");
    for (size_t i = 0; i < there.size(); ++i) integers[held.place(i)] = there[held.place(edit.rows[i])];
    set_constant(target, node, 0, convert(Tensor::of<double>(before.shape(), integers), before.dtype()), name);
    return;
  }
  const auto rows = weight_rows(target.node(held.reader), held.shape, held.numbers);
  IntegerOrder order = {edit.perm, {}, edit.rows};
  for (double axis : edit.numbers) order.reversed.push_back(static_cast<size_t>(axis));
  bool fits = rows && (order.perm.empty() || order.perm.size() == held.shape.size()) &&
              (order.rows.empty() || order.rows.size() == rows->n);
  for (size_t i = 0; fits && i < order.perm.size(); ++i) fits = held.shape[order.perm[i]] == held.shape[i];
  for (size_t row : order.rows) fits = fits && row < rows->n;
  for (double axis : edit.numbers) fits = fits && axis >= 0 && axis < static_cast<double>(held.shape.size());
  if (!fits) fail_unsupported("the integers of '", plain(edit.target), "' have no such order");
  const std::vector<size_t> from = elements_in_order(order, held.shape, *rows);
  for (size_t i = 0; i < from.size(); ++i) integers[held.place(i)] = there[held.place(from[i])];
  set_constant(target, node, 0, convert(Tensor::of<double>(before.shape(), integers), before.dtype()), name);
}

void set_integers(const Edit& edit, const Graph& source, NodeId node, Graph& target) {
  const Uses uses(target);
  const QuantisedConstant held = integers_of(edit, uses, node, target);
  std::vector<size_t> rows;
  std::vector<double> wanted = source_numbers(edit, source, target.node(held.reader), held.shape, &rows);
  if (!edit.numbers.empty() && edit.numbers.size() != wanted.size())
    fail_unsupported(edit.numbers.size(), " numbers for ", wanted.size(), " of '", plain(edit.target), "'");
  for (size_t i = 0; i < edit.numbers.size(); ++i) wanted[i] += edit.numbers[i];
  const ValueId old = target.node(node).input(0);
  const Tensor& before = *target.constant(old);
  const Tensor* zero = target.constant(target.node(node).input(2));
  const std::vector<double> zeros = zero == nullptr ? std::vector<double>{0} : to_doubles(*zero);
  std::vector<double> integers = to_doubles(before);
  const int bits = dtype_bits(before.dtype());
  const bool sign = dtype_class(before.dtype()) == DTypeClass::Signed;
  const double low = sign ? -std::ldexp(1.0, bits - 1) + (bits == 8 ? 1 : 0) : 0,
               high = std::ldexp(1.0, sign ? bits - 1 : bits) - 1;
  for (size_t i = 0; i < integers.size(); ++i) {
    if (std::find(edit.rows.begin(), edit.rows.end(), rows[i]) == edit.rows.end() || held.steps[i] == 0) continue;
    const double z = zeros[zeros.size() > 1 ? held.groups[i] % zeros.size() : 0];
    integers[held.place(i)] = std::clamp(std::nearbyint(wanted[i] / held.steps[i]) + z, low, high);
  }
  const std::string name = target.value(old).name;
  set_constant(target, node, 0, convert(Tensor::of<double>(before.shape(), integers), before.dtype()), name);
}

}  // namespace

void make_quantised_edit(const Edit& edit, const Graph& source, Graph& target) {
  const NodeId node = quantiser_of(target, edit.target);
  if (edit.key == kKeys[0]) {
    set_numbers(edit, node, 1, target);
  } else if (edit.key == kKeys[1]) {
    set_numbers(edit, node, 2, target);
  } else if (edit.key == kKeys[2]) {
    if (edit.numbers.size() != 1) fail_unsupported("an axis is one number");
    target.node(node).attributes["axis"] = static_cast<int64_t>(edit.numbers[0]);
  } else if (edit.key == kKeys[3]) {
    set_integers(edit, source, node, target);
  } else if (edit.key == kKeys[4]) {
    set_order(edit, node, target);
  } else {
    fail_unsupported("a quantiser has no '", plain(edit.key), "'");
  }
}

ValueId as_read(const Graph& graph, ValueId value) {
  const Uses uses(graph);
  // Operators on integers name what they make after the integers.
  if (const NodeId maker = uses.producer[value]; maker >= 0 && graph.node(maker).op == "QuantizeLinear") {
    for (NodeId reader : uses.readers[value]) {
      if (graph.node(reader).op == "DequantizeLinear" && graph.node(reader).input(0) == value)
        return graph.node(reader).output(0);
    }
  }
  for (NodeId id : uses.readers[value]) {
    if (graph.node(id).op != "QuantizeLinear" || graph.node(id).input(0) != value) continue;
    for (NodeId reader : uses.readers[graph.node(id).output(0)]) {
      if (graph.node(reader).op == "DequantizeLinear") return graph.node(reader).output(0);
    }
  }
  return value;
}

ValueId as_made(const Graph& graph, ValueId value) {
  const NodeId maker = Uses(graph).producer[value];
  const bool rounded = maker >= 0 && graph.node(maker).op == "QuantizeLinear";
  return rounded ? graph.node(maker).input(0) : value;
}

}  // namespace dnn
