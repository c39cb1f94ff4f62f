// The ONNX reader: every tensor encoding, external data, sparse tensors, subgraphs, functions, and hostile files.
#include <gtest/gtest.h>

#include "base/file.h"
#include "formats/onnx/tensor_proto.h"
#include "graph/text.h"
#include "unit/formats/onnx/model_builder.h"

namespace dnn::onnx {
namespace {

// The one constant of a model that holds `fill(tensor)` as initializer "t".
template <class Fill>
Tensor constant(int type, const std::vector<int64_t>& dims, Fill fill) {
  ModelBuilder builder(8, 17);
  fill(builder.initializer("t", type, dims));
  builder.output("t", type, dims);
  const Graph graph = builder.read();
  return *graph.constant(graph.outputs.at(0));
}

TEST(ReadTensor, TypedFields) {
  EXPECT_EQ(constant(1, {2}, [](TensorProto* t) { t->add_float_data(1.5f), t->add_float_data(-2); }).data<float>()[1],
            -2.0f);
  EXPECT_EQ(constant(11, {1}, [](TensorProto* t) { t->add_double_data(0.1); }).data<double>()[0], 0.1);
  EXPECT_EQ(constant(7, {1}, [](TensorProto* t) { t->add_int64_data(INT64_MIN); }).data<int64_t>()[0], INT64_MIN);
  EXPECT_EQ(constant(13, {1}, [](TensorProto* t) { t->add_uint64_data(UINT64_MAX); }).data<uint64_t>()[0], UINT64_MAX);
  EXPECT_EQ(constant(12, {1}, [](TensorProto* t) { t->add_uint64_data(UINT32_MAX); }).data<uint32_t>()[0], UINT32_MAX);
  EXPECT_EQ(constant(3, {1}, [](TensorProto* t) { t->add_int32_data(-5); }).data<int8_t>()[0], -5);
  EXPECT_EQ(constant(10, {1}, [](TensorProto* t) { t->add_int32_data(0x3c00); }).data<Half>()[0].bits, 0x3c00);
  EXPECT_EQ(constant(16, {1}, [](TensorProto* t) { t->add_int32_data(0x3f80); }).data<BFloat16>()[0].bits, 0x3f80);
  EXPECT_EQ(constant(9, {2}, [](TensorProto* t) { t->add_int32_data(7), t->add_int32_data(0); }).data<bool>()[0], true);
  EXPECT_EQ(constant(14, {1}, [](TensorProto* t) { t->add_float_data(1), t->add_float_data(2); }).size_bytes(), 8U);
  EXPECT_EQ(constant(8, {1}, [](TensorProto* t) { t->add_string_data("hey"); }).strings()[0], "hey");
  EXPECT_EQ(constant(6, {0}, [](TensorProto*) {}).size(), 0);
}

TEST(ReadTensor, PackedTypes) {
  const auto codes = [](const Tensor& tensor) {
    std::vector<int> values;
    for (std::byte b : tensor.bytes()) values.push_back(static_cast<int8_t>(b));
    return values;
  };
  const std::vector<int> int4 = {1, -2, 7, -8, 3}, uint4 = {1, 14, 7, 8, 3}, int2 = {0, 1, -2, -1, 1},
                         uint2 = {0, 1, 2, 3, 1};
  EXPECT_EQ(codes(constant(22, {5}, [](TensorProto* t) { t->set_raw_data("\xe1\x87\x03"); })), int4);
  EXPECT_EQ(codes(constant(21, {5}, [](TensorProto* t) { t->set_raw_data("\xe1\x87\x03"); })), uint4);
  EXPECT_EQ(
      codes(constant(22, {5},
                     [](TensorProto* t) { t->add_int32_data(0xe1), t->add_int32_data(0x87), t->add_int32_data(3); })),
      int4);
  EXPECT_EQ(codes(constant(26, {5}, [](TensorProto* t) { t->set_raw_data("\xe4\x01"); })), int2);
  EXPECT_EQ(codes(constant(25, {5}, [](TensorProto* t) { t->set_raw_data("\xe4\x01"); })), uint2);
  // Codes 0x01, 0x3f, 0x20, 0x15 in 24 bits, then 0x2a alone in a byte.
  const std::vector<int> six = {0x01, 0x3f, 0x20, 0x15, 0x2a};
  const std::string packed("\xc1\x0f\x56\x2a", 4);
  EXPECT_EQ(codes(constant(27, {5}, [&](TensorProto* t) { t->set_raw_data(packed); })), six);
  EXPECT_EQ(codes(constant(28, {5},
                           [&](TensorProto* t) {
                             for (int code : six) t->add_int32_data(code | 0xc0);
                           })),
            six);
  EXPECT_EQ(packed_bytes(unpack(DType::Float6E2M3, {5}, as_bytes(packed))), packed);
  EXPECT_EQ(packed_bytes(unpack(DType::Int4, {5}, as_bytes("\xe1\x87\x03"))), "\xe1\x87\x03");
  EXPECT_EQ(packed_bytes(unpack(DType::UInt2, {5}, as_bytes("\xe4\x01"))), "\xe4\x01");
}

TEST(ReadTensor, RawBoolsAreZeroOrOne) {
  const Tensor tensor = constant(9, {3}, [](TensorProto* t) { t->set_raw_data(std::string("\0\1\xff", 3)); });
  EXPECT_EQ(tensor.bytes()[2], std::byte{1});
}

TEST(ReadTensor, SparseInitializersBecomeDense) {
  for (const bool flat : {true, false}) {
    ModelBuilder builder(8, 17);
    SparseTensorProto* sparse = builder.graph().add_sparse_initializer();
    sparse->add_dims(2);
    sparse->add_dims(3);
    TensorProto* values = sparse->mutable_values();
    values->set_name("s");
    values->set_data_type(1);
    values->add_dims(2);
    values->add_float_data(5);
    values->add_float_data(6);
    TensorProto* indices = sparse->mutable_indices();
    indices->set_data_type(7);
    indices->add_dims(2);
    if (!flat) indices->add_dims(2);
    for (int64_t index : flat ? std::vector<int64_t>{1, 5} : std::vector<int64_t>{0, 1, 1, 2})
      indices->add_int64_data(index);
    builder.output("s", 1, {2, 3});
    const Graph graph = builder.read();
    EXPECT_TRUE(graph.constant(graph.outputs[0])->identical(Tensor::of<float>({2, 3}, {0, 5, 0, 0, 0, 6})));
    indices->set_int64_data(1, 6);
    EXPECT_EQ(builder.complaint(), "3 sparse tensor 's': index 6 is out of range");
  }
}

TEST(ReadTensor, HostileSizesAreRefusedBeforeTheyAreAllocated) {
  const auto complaint = [](auto fill) {
    ModelBuilder builder(8, 17);
    fill(builder);
    return builder.complaint();
  };
  EXPECT_EQ(complaint([](ModelBuilder& b) {
              b.initializer("t", 1, {1 << 30, 1 << 20})->set_raw_data("1234");
            }),
            "3 tensor 't': float32[1073741824,1048576] wants 4503599627370496 bytes, has 4");
  EXPECT_EQ(complaint([](ModelBuilder& b) { b.initializer("t", 1, {1 << 20})->add_float_data(1); }),
            "3 tensor 't': float32[1048576] wants 1048576 elements, has 1");
  EXPECT_EQ(complaint([](ModelBuilder& b) { b.initializer("t", 1, {-1})->add_float_data(1); }),
            "3 tensor 't': shape [-1] has a negative extent");
  EXPECT_EQ(complaint([](ModelBuilder& b) { b.initializer("t", 99, {1}); }),
            "3 tensor 't': element type 99 does not exist");
  EXPECT_EQ(complaint([](ModelBuilder& b) { b.initializer("t", 8, {1 << 30}); }),
            "3 tensor 't': string[1073741824] wants 1073741824 elements, has 0");
  EXPECT_EQ(complaint([](ModelBuilder& b) { b.initializer("t", 8, {1})->set_raw_data("x"); }),
            "3 tensor 't': string[1] wants 1 elements, has 0");
  EXPECT_EQ(complaint([](ModelBuilder& b) {
              SparseTensorProto* sparse = b.graph().add_sparse_initializer();
              sparse->add_dims(int64_t{1} << 40);
              sparse->mutable_values()->set_name("s");
              sparse->mutable_values()->set_data_type(1);
              sparse->mutable_values()->add_dims(0);
              sparse->mutable_indices()->set_data_type(7);
              sparse->mutable_indices()->add_dims(0);
            }),
            "4 sparse tensor 's': a dense float32[1099511627776] of 0 values is too large");
}

class External : public ::testing::Test {
 protected:
  External() : folder_(::testing::TempDir()) {
    write_file(folder_.path() + "/w.bin", std::string(16, '\0') + std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  }
  std::string complaint(const std::vector<std::pair<std::string, std::string>>& entries) {
    try {
      read(entries);
    } catch (const Error& error) {
      const std::string text = std::to_string(error.exit_code()) + " " + error.what();
      const size_t at = text.find(folder_.path());
      return at == std::string::npos ? text : text.substr(0, at) + "DIR" + text.substr(at + folder_.path().size());
    }
    return "";
  }
  Tensor read(const std::vector<std::pair<std::string, std::string>>& entries) {
    ModelBuilder builder(8, 17);
    TensorProto* tensor = builder.initializer("t", 1, {2});
    tensor->set_data_location(1);
    for (const auto& [key, value] : entries) {
      StringStringEntryProto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    builder.output("t", 1, {2});
    const Graph graph = builder.read(folder_.path() + "/model.onnx");
    return *graph.constant(graph.outputs[0]);
  }
  TemporaryFolder folder_;
};

TEST_F(External, ReadsWhereItIsTold) {
  EXPECT_TRUE(
      read({{"location", "w.bin"}, {"offset", "16"}, {"length", "8"}}).identical(Tensor::of<float>({2}, {1, 2})));
  EXPECT_TRUE(read({{"location", "./w.bin"}, {"offset", "16"}}).identical(Tensor::of<float>({2}, {1, 2})));
}

TEST_F(External, StaysInTheModelsFolder) {
  EXPECT_EQ(complaint({{"location", "/etc/passwd"}}),
            "3 tensor 't': external data location \"/etc/passwd\" leaves the model's folder");
  EXPECT_EQ(complaint({{"location", "../w.bin"}}),
            "3 tensor 't': external data location \"../w.bin\" leaves the model's folder");
  EXPECT_EQ(complaint({{"location", "a/../../w.bin"}}),
            "3 tensor 't': external data location \"a/../../w.bin\" leaves the model's folder");
  std::filesystem::create_symlink("/etc/passwd", folder_.path() + "/link.bin");
  EXPECT_EQ(complaint({{"location", "link.bin"}}),
            "3 tensor 't': external data location \"link.bin\" leaves the model's folder through a link");
  EXPECT_EQ(complaint({}), "3 tensor 't': external data without a location");
}

TEST_F(External, ChecksOffsetsAndLengths) {
  EXPECT_EQ(complaint({{"location", "w.bin"}, {"offset", "25"}}),
            "3 tensor 't': w.bin: offset 25 lies beyond its 24 bytes");
  EXPECT_EQ(complaint({{"location", "w.bin"}, {"offset", "20"}}),
            "3 tensor 't': w.bin: 8 bytes expected at offset 20, the file ends at 24");
  EXPECT_EQ(complaint({{"location", "w.bin"}, {"length", "4"}}), "3 tensor 't': float32[2] wants 8 bytes, has 4");
  EXPECT_EQ(complaint({{"location", "w.bin"}, {"offset", "-1"}}),
            "3 tensor 't': external data offset \"-1\" is not a count of bytes");
  EXPECT_EQ(complaint({{"location", "w.bin"}, {"offset", "18446744073709551615"}}),
            "3 tensor 't': external data offset \"18446744073709551615\" is not a count of bytes");
  EXPECT_EQ(complaint({{"location", "none.bin"}}),
            "5 tensor 't': DIR/none.bin: cannot open: No such file or directory");
}

std::string text_without_opset(const Graph& graph) {
  std::string out;
  for (const std::string& line : split(to_text(graph), '\n')) {
    if (!starts_with(line, "  opset") && !line.empty()) out += line + "\n";
  }
  return out;
}

TEST(Read, InitializersListedAsInputsAndConstantsAreConstants) {
  ModelBuilder builder(3, 13);
  builder.input("x", 1, {2});
  builder.input("w", 1, {2});
  TensorProto* w = builder.initializer("w", 1, {2});
  w->add_float_data(1);
  w->add_float_data(2);
  ModelBuilder::attribute(builder.node("Constant", {}, {"k"}), "value_ints")->add_ints(4);
  builder.node("Add", {"x", "w"}, {"y"});
  builder.node("Reshape", {"y", "k"}, {"z"});
  builder.output("z", 1, {2});
  EXPECT_EQ(text_without_opset(builder.read()),
            "graph \"g\" {\n  input x: float32[2]\n  const w: float32[2] = {1, 2}\n  y = Add(x, w)\n  const k: "
            "int64[1] = {4}\n"
            "  z: float32[2] = Reshape(y, k)\n  output z\n}\n");
}

TEST(Read, NodesAreSortedAndNamesResolved) {
  ModelBuilder builder(8, 17);
  builder.input("x", 1, {2});
  builder.node("Relu", {"a"}, {"b"});
  builder.node("Abs", {"x"}, {"a"});
  builder.output("b", 1, {2});
  const Graph graph = builder.read();
  EXPECT_EQ(graph.node(graph.order()[0]).op, "Abs");
  builder.node("Neg", {"nothing"}, {"c"})->set_name("neg");
  EXPECT_EQ(builder.complaint(),
            "3 node 'neg' (Neg): input 'nothing' is not produced by any node, input or initializer");
}

TEST(Read, CyclesAndDoubleProducersAreMalformed) {
  ModelBuilder cycle(8, 17);
  cycle.node("Relu", {"b"}, {"a"});
  cycle.node("Relu", {"a"}, {"b"});
  cycle.output("b", 1, {2});
  EXPECT_EQ(cycle.complaint().substr(0, 1), "3");
  ModelBuilder twice(8, 17);
  twice.input("x", 1, {2});
  twice.node("Relu", {"x"}, {"a"});
  twice.node("Abs", {"x"}, {"a"});
  twice.output("a", 1, {2});
  EXPECT_EQ(twice.complaint().substr(0, 1), "3");
}

TEST(Read, SubgraphsCaptureThroughLevels) {
  ModelBuilder builder(8, 17);
  builder.input("c", 9, {});
  builder.input("x", 1, {2});
  NodeProto* outer = builder.node("If", {"c"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    GraphProto* body = ModelBuilder::attribute(outer, branch)->mutable_g();
    NodeProto* inner = ModelBuilder::fill(body->add_node(), "If", {"c"}, {"o"});
    for (const char* inner_branch : {"then_branch", "else_branch"}) {
      GraphProto* leaf = ModelBuilder::attribute(inner, inner_branch)->mutable_g();
      ModelBuilder::fill(leaf->add_node(), branch[0] == 't' ? "Relu" : "Abs", {"x"}, {"p"});
      leaf->add_output()->set_name("p");
    }
    body->add_output()->set_name("o");
  }
  builder.output("y", 1, {2});
  const Graph graph = builder.read();
  const Node& node = graph.node(graph.order()[0]);
  EXPECT_EQ(captured_values(graph, node).size(), 4U);
  const auto& body = *std::get<std::shared_ptr<const Graph>>(node.attributes.at("then_branch"));
  EXPECT_EQ(body.captures.size(), 2U);
  EXPECT_EQ(to_text(parse_graph(to_text(graph))), to_text(graph));
}

// f(a, b; k) = (twice(a) + b, a) with twice(v) = Elu(v, alpha = k) + v
ModelBuilder with_functions() {
  ModelBuilder builder(10, 18);
  OperatorSetIdProto* import = builder.model.add_opset_import();
  import->set_domain("my");
  import->set_version(1);
  FunctionProto* twice = builder.model.add_functions();
  twice->set_domain("my");
  twice->set_name("twice");
  twice->add_input("v");
  twice->add_output("r");
  twice->add_opset_import()->set_version(13);
  AttributeProto* standard = twice->add_attribute_proto();
  standard->set_name("k");
  standard->set_type(AttributeProto::FLOAT);
  standard->set_f(0.5f);
  NodeProto* elu = ModelBuilder::fill(twice->add_node(), "Elu", {"v"}, {"e"});
  elu->set_name("elu");
  AttributeProto* alpha = ModelBuilder::attribute(elu, "alpha");
  alpha->set_type(AttributeProto::FLOAT);
  alpha->set_ref_attr_name("k");
  ModelBuilder::fill(twice->add_node(), "Add", {"e", "v"}, {"r"});
  FunctionProto* f = builder.model.add_functions();
  f->set_domain("my");
  f->set_name("f");
  f->add_input("a");
  f->add_input("b");
  f->add_output("s");
  f->add_output("a");
  f->add_attribute("k");
  f->add_opset_import()->set_version(13);
  NodeProto* call = ModelBuilder::fill(f->add_node(), "twice", {"a"}, {"t"});
  call->set_domain("my");
  call->set_name("call");
  AttributeProto* passed = ModelBuilder::attribute(call, "k");
  passed->set_type(AttributeProto::FLOAT);
  passed->set_ref_attr_name("k");
  ModelBuilder::attribute(ModelBuilder::fill(f->add_node(), "ReduceSum", {"b"}, {"u"}), "keepdims")->set_i(1);
  ModelBuilder::fill(f->add_node(), "Add", {"t", "u"}, {"s"});
  builder.input("x", 1, {2});
  NodeProto* main = builder.node("f", {"x", "x"}, {"y", "z"});
  main->set_domain("my");
  main->set_name("top");
  builder.output("y", 1, {2});
  builder.output("z", 1, {2});
  return builder;
}

TEST(Read, FunctionsAreInlined) {
  ModelBuilder builder = with_functions();
  EXPECT_EQ(text_without_opset(builder.read()),
            "graph \"g\" {\n  input x: float32[2]\n  top/call/e = Elu(x) @top/call/elu {alpha = 0.5} from \"top\"\n"
            "  top/t = Add(top/call/e, x) from \"top\"\n  top/u = ReduceSum(x) {keepdims = 1} from \"top\"\n"
            "  y: float32[2] = Add(top/t, top/u) from \"top\"\n  z: float32[2] = Identity(x) @top/a from \"top\"\n"
            "  output y\n  output z\n}\n");
  AttributeProto* k = ModelBuilder::attribute(builder.graph().mutable_node(0), "k");
  k->set_type(AttributeProto::FLOAT);
  k->set_f(3);
  EXPECT_NE(text_without_opset(builder.read()).find("{alpha = 3.0}"), std::string::npos);
}

TEST(Read, FunctionsMayNotCallThemselvesOrExplode) {
  ModelBuilder builder(8, 17);
  FunctionProto* self = builder.model.add_functions();
  self->set_domain("my");
  self->set_name("self");
  self->add_input("a");
  self->add_output("b");
  ModelBuilder::fill(self->add_node(), "self", {"a"}, {"b"})->set_domain("my");
  builder.input("x", 1, {2});
  builder.node("self", {"x"}, {"y"})->set_domain("my");
  builder.output("y", 1, {2});
  EXPECT_NE(builder.complaint().find("functions nest deeper than 64, or call themselves"), std::string::npos);

  ModelBuilder bomb(8, 17);  // f0 has 10 nodes, each f(n) calls f(n-1) 10 times
  for (int level = 0; level < 12; ++level) {
    FunctionProto* f = bomb.model.add_functions();
    f->set_domain("my");
    f->set_name("f" + std::to_string(level));
    f->add_input("v0");
    f->add_output("v10");
    if (level == 0) f->add_opset_import()->set_version(17);
    for (int i = 0; i < 10; ++i) {
      NodeProto* node = ModelBuilder::fill(f->add_node(), level == 0 ? "Relu" : "f" + std::to_string(level - 1),
                                           {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
      if (level > 0) node->set_domain("my");
    }
  }
  bomb.input("x", 1, {2});
  bomb.node("f11", {"x"}, {"y"})->set_domain("my");
  bomb.output("y", 1, {2});
  EXPECT_NE(bomb.complaint().find("makes more than 50000 nodes"), std::string::npos);
}

TEST(Read, RefusesWithTheReason) {
  ModelBuilder future(14, 29);
  EXPECT_EQ(future.complaint(), "4 opset 29 is newer than 28, the newest known here");
  ModelBuilder internal(8, 17);
  NodeProto* node = internal.node("Packed", {}, {"y"});
  node->set_domain("dnn");
  node->set_name("n");
  EXPECT_EQ(internal.complaint(), "3 node 'n' (dnn.Packed): domain 'dnn' is reserved for internal operators");
  ModelBuilder sequence(8, 17);
  sequence.graph().add_input()->set_name("s");
  sequence.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_sequence_type()
      ->mutable_elem_type()
      ->mutable_tensor_type()
      ->set_elem_type(1);
  EXPECT_EQ(sequence.complaint(),
            "4 graph input 's' is a sequence, map, optional or sparse tensor; only tensors are supported");
  ModelProto empty;
  empty.set_ir_version(8);
  const std::string bytes = empty.SerializeAsString();
  ModelSource source;
  source.bytes = as_bytes(bytes);
  EXPECT_THROW(onnx::read(source), Error);
  EXPECT_FALSE(sniff(source));
}

TEST(Read, SniffingKnowsONNXFromItsCousins) {
  const auto sniffs = [](const std::string& text) {
    ModelSource source;
    source.bytes = as_bytes(text);
    return sniff(source);
  };
  const std::string model = with_functions().bytes();
  EXPECT_TRUE(sniffs(model));
  EXPECT_TRUE(sniffs(model.substr(0, model.size() / 2)));
  EXPECT_FALSE(sniffs(std::string("\x0a\x10\x0a\x01x\x12\x05", 7) + "Const\x1a\x01y"));  // GraphDef
  EXPECT_FALSE(sniffs(std::string("\x08\x01\x12\x04\x0a\x02\x22\x00", 8)));              // SavedModel
  EXPECT_FALSE(sniffs("graph {}"));
  EXPECT_FALSE(sniffs(""));
}

}  // namespace
}  // namespace dnn::onnx
