// .npy and .npz of NumPy read back to the values they were made of, and damaged ones give errors.
#include "tensor/npy.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"

namespace dnn {
namespace {

// The seeds come from make_npy_seeds.py beside this file: 0..23 as [2, 3, 4] in every dtype.
std::string seed(const std::string& name) { return read_file("fuzz/corpus/" + name); }

std::string npy(const std::string& header, const std::string& data) {
  std::string file("\x93NUMPY\1\0", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + data;
}

ErrorKind kind_of(const std::string& file) {
  try {
    parse_npy(as_bytes(file));
  } catch (const Error& e) {
    return e.kind();
  }
  return ErrorKind::Internal;
}

TEST(Npy, EveryDtypeHasItsValues) {
  std::vector<double> counted(24);
  for (size_t i = 0; i < 24; ++i) counted[i] = static_cast<double>(i);
  for (const auto& [code, dtype] : std::vector<std::pair<std::string, DType>>{{"i1", DType::Int8},
                                                                              {"i2", DType::Int16},
                                                                              {"i4", DType::Int32},
                                                                              {"i8", DType::Int64},
                                                                              {"u1", DType::UInt8},
                                                                              {"u2", DType::UInt16},
                                                                              {"u4", DType::UInt32},
                                                                              {"u8", DType::UInt64},
                                                                              {"f2", DType::Float16},
                                                                              {"f4", DType::Float32},
                                                                              {"f8", DType::Float64},
                                                                              {"f4_big_endian", DType::Float32},
                                                                              {"i2_fortran", DType::Int16},
                                                                              {"version2", DType::Float32}}) {
    const Tensor tensor = parse_npy(as_bytes(seed("npy/" + code + ".npy")));
    EXPECT_EQ(tensor.dtype(), dtype) << code;
    EXPECT_EQ(tensor.shape(), (Shape{2, 3, 4})) << code;
    EXPECT_EQ(to_doubles(tensor), counted) << code;
  }
  const Tensor truths = parse_npy(as_bytes(seed("npy/b1.npy")));
  EXPECT_EQ(truths.data<bool>()[0], false);
  EXPECT_EQ(truths.data<bool>()[23], true);
  for (const char* code : {"c8", "c8_big_endian"}) {
    const Tensor complex = parse_npy(as_bytes(seed(std::string("npy/") + code + ".npy")));
    EXPECT_EQ(complex.dtype(), DType::Complex64);
    float parts[2];
    std::memcpy(parts, complex.bytes().data() + 8 * 23, 8);
    EXPECT_EQ(parts[0], 23.0f) << code;
    EXPECT_EQ(parts[1], 0.0f) << code;
  }
}

TEST(Npy, ScalarsEmptyArraysAndStrings) {
  EXPECT_TRUE(parse_npy(as_bytes(seed("npy/scalar.npy"))).identical(Tensor::scalar(2.5f)));
  EXPECT_EQ(parse_npy(as_bytes(seed("npy/empty.npy"))).shape(), (Shape{3, 0, 2}));
  EXPECT_EQ(parse_npy(as_bytes(seed("npy/bytes.npy"))).strings(), (std::vector<std::string>{"tench", "", "goldfish"}));
  for (const char* name : {"unicode", "unicode_big_endian"}) {
    EXPECT_EQ(parse_npy(as_bytes(seed(std::string("npy/") + name + ".npy"))).strings(),
              (std::vector<std::string>{"tench", "\xce\xb1\xf0\x9f\x90\x9f"}));
  }
}

TEST(Npy, WritesWhatNumpyWrites) {
  for (const char* name : {"b1", "i1", "i4", "u8", "f2", "f4", "c16", "scalar", "empty", "vector"}) {
    const std::string file = seed(std::string("npy/") + name + ".npy");
    EXPECT_EQ(format_npy(parse_npy(as_bytes(file))), file) << name;
  }
  EXPECT_THROW(format_npy(Tensor(DType::BFloat16, {1})), Error);
}

TEST(Npy, PicklesAndRecordsStayUnread) {
  EXPECT_EQ(kind_of(seed("npy/object.npy")), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of(seed("npy/record.npy")), ErrorKind::Unsupported);
}

TEST(Npy, HostileHeadersAreMalformed) {
  const std::string sixteen(16, '\0');
  EXPECT_EQ(parse_npy(as_bytes(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}", sixteen))).size(), 4);
  for (const char* header :
       {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",                    // more than there is
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}",  // overflows
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000000, 0, -1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)",  // no end
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 2)}", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '?f4', 'fortran_order': False, 'shape': (2, 2)}",
        "{'descr': '<S-1', 'fortran_order': False, 'shape': (2, 2)}",
        "{'descr': '|S0', 'fortran_order': False, 'shape': (1000000000000, 4)}",  // strings without bytes
        "{'descr': '', 'fortran_order': False, 'shape': (2, 2)}", "", "{", "{'descr",
        "__import__('os').system('true')"}) {
    EXPECT_EQ(kind_of(npy(header, sixteen)), ErrorKind::Malformed) << header;
  }
  const std::string good = seed("npy/f4.npy");
  for (size_t n = 0; n < good.size(); ++n) EXPECT_EQ(kind_of(good.substr(0, n)), ErrorKind::Malformed) << n;
}

TEST(Npz, StoredAndDeflated) {
  for (const char* name : {"npz/stored.npz", "npz/deflated.npz"}) {
    const std::string file = seed(name);
    EXPECT_TRUE(is_npz(as_bytes(file)));
    const auto arrays = parse_npz(as_bytes(file));
    ASSERT_EQ(arrays.size(), 2u);
    EXPECT_EQ(arrays[0].first, "x");
    EXPECT_EQ(to_doubles(arrays[0].second)[23], 23.0);
    EXPECT_EQ(arrays[1].first, "label");
    EXPECT_TRUE(arrays[1].second.identical(Tensor::scalar<int64_t>(7)));
  }
}

TEST(Npz, EveryTruncationAndAWrongByteAreMalformed) {
  const std::string good = seed("npz/deflated.npz");
  for (size_t n = 0; n < good.size(); ++n) {
    const std::string part = good.substr(0, n);
    EXPECT_THROW(parse_npz(as_bytes(part)), Error) << n;
  }
  std::string wrong = seed("npz/stored.npz");
  wrong[wrong.find("NUMPY") + 200] ^= 1;  // among the values: the checksum tells
  try {
    parse_npz(as_bytes(wrong));
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Malformed);
    EXPECT_NE(std::string(e.what()).find("checksum"), std::string::npos);
  }
}

// What a file asks for is held to its size; and what is not wanted is not inflated.
TEST(Npz, ExpandsAsFarAsItMay) {
  const std::string file = seed("npz/deflated.npz");
  const auto kind = [&](const WantsArray& wants, uint64_t most) {
    try {
      parse_npz(as_bytes(file), wants, most);
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::Negative;  // none
  };
  EXPECT_EQ(kind({}, 1 << 20), ErrorKind::Negative);
  EXPECT_EQ(kind({}, 200), ErrorKind::Unsupported);
  std::vector<std::string> asked;
  const auto label_alone = [&](const std::string& name, DType dtype, const Shape& shape) {
    asked.push_back(cat(name, " ", dtype_name(dtype), shape_text(shape)));
    return name == "label";
  };
  EXPECT_EQ(kind(label_alone, 200), ErrorKind::Negative);
  EXPECT_EQ(asked, (std::vector<std::string>{"x float32[2,3,4]", "label int64[]"}));
  EXPECT_EQ(kind([](const std::string&, DType, const Shape&) -> bool { fail_usage("not this"); }, 0), ErrorKind::Usage);
  EXPECT_EQ(most_expanded(1'200'000), 4'800'000u + (1u << 28));
}

}  // namespace
}  // namespace dnn
