// The test program of a network in C, and the values that it tries the network with; see emit_c_parts.h.
#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "compile/c_literals.h"
#include "compile/emit_c_parts.h"

namespace dnn {
namespace {

// Makes values that the emitted test makes, too: see kFill.
class Numbers {
 public:
  uint32_t next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }

 private:
  uint32_t state_ = 1;
};

constexpr const char* kFill =
    "static uint32_t state = 1;\n"
    "static uint32_t next_number(void) { state = state * 1664525u + 1013904223u; return state >> 8; }\n";

// The rule by which a number of a type is made, in C++ and in C.
constexpr float kHalfRange = 8388608.0f;
bool takes_bytes(DType dtype) { return is_integer(dtype) && dtype_size(dtype) == 1; }
std::string filling(DType dtype, const std::string& type) {
  if (is_float(dtype)) return cat("(", type, ")((float)next_number() / 8388608.0f - 1.0f)");
  return cat("(", type, ")(next_number() & ", takes_bytes(dtype) ? 255 : 1, ")");
}

std::string arrays(const CNet& net) {
  std::string text;
  for (size_t i = 0; i < net.inputs.size(); ++i)
    text += cat("static ", c_type(net.package.input_types[i].dtype), " ", net.inputs[i], "[", net.upper, "_",
                upper_case(net.inputs[i]), "_ELEMENTS];\n");
  for (size_t i = 0; i < net.outputs.size(); ++i)
    text += cat("static ", c_type(net.package.output_types[i].dtype), " ", net.outputs[i], "[", net.upper, "_",
                upper_case(net.outputs[i]), "_ELEMENTS];\n");
  return text;
}

// The outputs to compare with, of the variant that is chosen; of one that was not run those of the first that was.
std::string expected(const CNet& net) {
  std::string text;
  const auto first_run =
      std::find_if(net.options.expected.begin(), net.options.expected.end(), [](const auto& e) { return !e.empty(); });
  DNN_CHECK(first_run != net.options.expected.end());
  for (size_t v = 0; v < net.package.variants.size(); ++v) {
    const std::vector<Tensor>& expected = net.options.expected[v].empty() ? *first_run : net.options.expected[v];
    const std::string condition = net.used_by({v});
    if (!condition.empty()) text += cat("#if ", condition, "\n");
    for (size_t i = 0; i < net.outputs.size(); ++i)
      text += cat("static const ", c_type(net.package.output_types[i].dtype), " expected_", net.outputs[i], "[",
                  net.upper, "_", upper_case(net.outputs[i]), "_ELEMENTS] = {\n", c_initializer(expected[i]), "};\n");
    if (!condition.empty()) text += "#endif\n";
  }
  return text;
}

std::string comparison(const CNet& net, const std::string& out) {
  return cat("  if (memcmp(", out, ", expected_", out, ", sizeof ", out,
             ") != 0) {\n    double most = 0, apart = 0;\n    same = 0;\n    for (i = 0; i < ", net.upper, "_",
             upper_case(out), "_ELEMENTS; ++i) {\n      const double a = (double)", out, "[i], b = (double)expected_",
             out,
             "[i];\n      if (fabs(b) > most) most = fabs(b);\n      if (!(fabs(a - b) <= apart) && !(a != a && b != "
             "b)) apart = fabs(a - b);\n"
             "    }\n    if (!(apart <= worst * most)) worst = most > 0 ? apart / most : apart > 0 ? 1 : 0;\n  }\n");
}

std::string main_function(const CNet& net) {
  std::string text =
      "\nint main(int argc, char** argv) {\n  const int runs = argc > 1 ? atoi(argv[1]) : 0;\n  int same = 1;\n  "
      "double worst = 0;\n  size_t i;\n";
  const auto loop = [&](const std::string& name, const std::string& body) {
    text += cat("  for (i = 0; i < ", net.upper, "_", upper_case(name), "_ELEMENTS; ++i) ", body, "\n");
  };
  for (size_t i = 0; i < net.inputs.size(); ++i)
    loop(net.inputs[i], cat(net.inputs[i], "[i] = ",
                            filling(net.package.input_types[i].dtype, c_type(net.package.input_types[i].dtype)), ";"));
  std::vector<std::string> arguments = net.inputs;
  arguments.insert(arguments.end(), net.outputs.begin(), net.outputs.end());
  const std::string run = cat(net.name, "_run(", join(arguments), ");\n");
  text += "  " + run;
  for (const std::string& out : net.outputs) text += comparison(net, out);
  text += cat("  if (same) printf(\"", net.name, ": same bits\\n\");\n  else printf(\"", net.name,
              ": differs by at most %g of the largest output\\n\", worst);\n  if (runs > 0) {\n    const clock_t "
              "start = clock();\n    int n;\n    for (n = 0; n < runs; ++n) ",
              run, "    printf(\"", net.name,
              ": %.0f ns a run\\n\", (double)(clock() - start) / CLOCKS_PER_SEC / runs * 1e9);\n  }\n  return same "
              "|| worst <= 1e-4 ? 0 : 1;\n}\n");
  return text;
}

}  // namespace

std::string c_test_program(const CNet& net) {
  std::string text =
      cat("/* Feeds ", net.name,
          "_run() pseudo-random numbers and compares with what dnn-infer's package gave. With an argument it also\n"
          "   runs that many times and prints how long one run took. Exit code 1: outputs differ by more than 1e-4 "
          "of the largest. */\n#include \"",
          net.name,
          ".h\"\n\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include "
          "<time.h>\n\n",
          kFill, "\n");
  return text + arrays(net) + expected(net) + main_function(net);
}

std::vector<Tensor> emit_c_inputs(const Package& package) {
  Numbers numbers;
  std::vector<Tensor> inputs;
  for (const Type& type : package.input_types) {
    if (!type.fixed())
      fail_unsupported("no C code for an input of ", type.text(), ": bind its shape with --shape or --batch");
    Tensor tensor(type.dtype, type.fixed_shape());
    std::byte* to = tensor.mutable_bytes();
    const size_t bytes = dtype_size(type.dtype);
    for (int64_t i = 0; i < tensor.size(); ++i, to += bytes) {
      const uint32_t n = numbers.next();
      const float number = static_cast<float>(n) / kHalfRange - 1.0f;
      const double wide = static_cast<double>(number);
      const uint64_t integer = n & (takes_bytes(type.dtype) ? 255 : 1);  // its low bytes come first
      if (type.dtype == DType::Float32) {
        std::memcpy(to, &number, bytes);
      } else if (type.dtype == DType::Float64) {
        std::memcpy(to, &wide, bytes);
      } else if (is_float(type.dtype) || type.dtype == DType::String) {
        fail_unsupported("no C code for an input of ", type.text());
      } else {
        std::memcpy(to, &integer, bytes);
      }
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

}  // namespace dnn
