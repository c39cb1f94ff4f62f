// Attention and MultiHeadAttention of ONNX Runtime (documented in its ContribOperators.md) as ONNX's Attention; see contrib.h.
#include "formats/onnx/contrib.h"

namespace dnn::onnx {
namespace {

// Inputs and outputs from `first` on, which caches of generating networks use.
void refuse_caches(const Rewrite& rewrite, const std::vector<const char*>& inputs, size_t first) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (rewrite.node.input(first + i) != kNoValue) rewrite.refuse(inputs[i], " is not read");
  }
  for (size_t i = 1; i < rewrite.node.outputs.size(); ++i) {
    const ValueId output = rewrite.node.outputs[i];
    if (output != kNoValue && rewrite.is_read(output)) rewrite.refuse("output ", i, " is not read");
  }
}

// A mask of rank 1 holds how many keys each sample of the batch has: the same as one of rank 2, [B, T], of as many ones.
ValueId with_keys(Rewrite& rewrite, ValueId mask, ValueId keys) {
  const auto &its = rewrite.type(mask).shape, &shape = rewrite.type(keys).shape;
  const bool known =
      its && shape && shape->size() > 1 && (*its)[0].fixed() && (*shape)[0].fixed() && (*shape)[1].fixed();
  if (!known || (*its)[0].size != (*shape)[0].size)
    rewrite.refuse("a mask of one axis is read where it has a number for each sample, and shapes are known");
  Tensor positions(DType::Int32, {1, (*shape)[1].size});
  for (int64_t i = 0; i < positions.size(); ++i) positions.mutable_data<int32_t>()[i] = static_cast<int32_t>(i);
  const ValueId length = rewrite.add_before("Unsqueeze", {mask, rewrite.add_ints("axis", {1})});
  return rewrite.add_before("Less", {rewrite.add_constant("positions", std::move(positions)), length});
}

// Numbers that are added to the scores: 0 where the mask has 1 and mask_filter_value where it has 0, [B, 1, 1 or S, T], and the bias. `keys`: of
// shape [B, T, ...].
ValueId added_to_scores(Rewrite& rewrite, ValueId mask, ValueId bias, ValueId keys) {
  if (mask == kNoValue) return bias;
  int rank = rewrite.rank(mask);
  const ValueId like = rewrite.node.input(0);
  if (rank == 1) mask = with_keys(rewrite, mask, keys), rank = 2;
  if (rank != 2 && rank != 3) rewrite.refuse("a mask of ", rank, " axes is not read, 1, 2 or 3 are");
  const DType dtype = rewrite.dtype(like);
  if (dtype == DType::Undefined) rewrite.refuse("the type of its input is not known");
  const float filter = rewrite.node.attribute_float("mask_filter_value", -10000.0F);
  const ValueId one = rewrite.add_float("one", 1, like), out = rewrite.add_float("filter", filter, like),
                kept = rewrite.add_before("Cast", {mask}, {{"to", static_cast<int64_t>(dtype)}}),
                hidden = rewrite.add_before("Mul", {rewrite.add_before("Sub", {one, kept}), out}),
                axes = rewrite.add_ints("axes", rank == 2 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1}),
                each = rewrite.add_before("Unsqueeze", {hidden, axes});
  return bias == kNoValue ? each : rewrite.add_before("Add", {each, bias});
}

void become_attention(Rewrite& rewrite, const std::vector<ValueId>& operands, ValueId added) {
  const int64_t heads = rewrite.node.attribute_int("num_heads", 0);
  if (heads < 1) rewrite.malformed("num_heads is ", heads);
  Attributes attributes = {{"q_num_heads", heads}, {"kv_num_heads", heads}};
  if (rewrite.node.attribute_int("unidirectional", 0) != 0) attributes["is_causal"] = int64_t{1};
  if (const float scale = rewrite.node.attribute_float("scale", 0); scale != 0) attributes["scale"] = scale;
  std::vector<ValueId> inputs = operands;
  if (added != kNoValue) inputs.push_back(added);
  rewrite.node.outputs.resize(1);
  rewrite.become("Attention", std::move(inputs), std::move(attributes));
}

// Numbers of queries, keys and values, in that order along the last axis of the weights.
std::vector<int64_t> hidden_sizes(const Rewrite& rewrite) {
  std::vector<int64_t> sizes = rewrite.node.attribute_ints("qkv_hidden_sizes");
  if (sizes.size() == 3) return sizes;
  if (!sizes.empty()) rewrite.malformed("qkv_hidden_sizes has ", sizes.size(), " numbers, 3 expected");
  const auto& shape = rewrite.type(rewrite.node.input(1)).shape;
  if (!shape || shape->size() != 2 || !(*shape)[1].fixed()) rewrite.refuse("the shape of its weights is not known");
  if ((*shape)[1].size % 3 != 0) rewrite.malformed("its weights have ", (*shape)[1].size, " columns, no multiple of 3");
  return std::vector<int64_t>(3, (*shape)[1].size / 3);
}

// `v` cut along `axis` into parts of these sizes.
std::vector<ValueId> parts_of(Rewrite& rewrite, ValueId v, const std::vector<int64_t>& sizes, int64_t axis) {
  const ValueId lengths = rewrite.add_ints("sizes", sizes);
  std::vector<ValueId> parts = {rewrite.add_before("Split", {v, lengths}, {{"axis", axis}})};
  while (parts.size() < sizes.size()) parts.push_back(rewrite.add_value("part"));
  rewrite.before.back().outputs = parts;
  return parts;
}

}  // namespace

void expand_attention(Rewrite& rewrite) {
  const Node before = rewrite.node;
  refuse_caches(rewrite, {"past"}, 4);
  refuse_caches(rewrite, {"past_sequence_length"}, 6);
  for (const char* name : {"do_rotary", "past_present_share_buffer"}) {
    if (before.attribute_int(name, 0) != 0) rewrite.refuse(name, " is not read");
  }
  ValueId all = rewrite.add_before("MatMul", {before.input(0), before.input(1)});
  if (before.input(2) != kNoValue) all = rewrite.add_before("Add", {all, before.input(2)});
  const std::vector<ValueId> parts = parts_of(rewrite, all, hidden_sizes(rewrite), 2);
  const ValueId added = added_to_scores(rewrite, before.input(3), before.input(5), before.input(0));
  become_attention(rewrite, parts, added);
}

void expand_multi_head_attention(Rewrite& rewrite) {
  const Node before = rewrite.node;
  refuse_caches(rewrite, {"past_key", "past_value", "past_sequence_length", "cache_indirection"}, 6);
  std::vector<ValueId> operands = {before.input(0), before.input(1), before.input(2)};
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == kNoValue || rewrite.rank(operands[i]) != 3)
      rewrite.refuse("operand ", i, " is packed with others, or has not 3 axes; that is not read");
  }
  if (before.input(3) != kNoValue) {
    std::vector<int64_t> sizes;
    for (const ValueId operand : operands) {
      const Dim& last = rewrite.type(operand).shape->back();
      if (!last.fixed()) rewrite.refuse("the shapes of its operands are not known");
      sizes.push_back(last.size);
    }
    const std::vector<ValueId> biases = parts_of(rewrite, before.input(3), sizes, 0);
    for (size_t i = 0; i < operands.size(); ++i) operands[i] = rewrite.add_before("Add", {operands[i], biases[i]});
  }
  const ValueId added = added_to_scores(rewrite, before.input(4), before.input(5), before.input(1));
  become_attention(rewrite, operands, added);
}

}  // namespace dnn::onnx
