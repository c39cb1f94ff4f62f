// Rounding ties: a network of integers that is computed in two ways, and what is wrong with neither or with one.
#include "convert/rounding_ties.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "convert/convert.h"
#include "graph/text.h"

namespace dnn {
namespace {

// Sums are a quarter or a half of a step each, so that ties are many.
constexpr const char* kConstants = R"(graph "g" {
  opset 17
  input x: float32[1,3,8,8]
  const xs: float32[] = {0.1}
  const xz: int8[] = {3}
  const ws: float32[] = {0.1}
  const wz: int8[] = {0}
  const w: int8[8,3,3,3] = random(1)
  const b: int32[8] = {5, -70, 300, 0, 12, 900, -41, 7}
  const bs: float32[] = {0.01}
  const ys: float32[] = {0.04}
  const yz: int8[] = {0}
  const v: int8[5,8,1,1] = random(2)
  const os: float32[] = {0.008}
  const oz: int8[] = {-7}
)";

constexpr const char* kSecondLayer = R"(
  vd = DequantizeLinear(v, ws, wz)
  e = Conv(rd, vd)
  o = QuantizeLinear(e, os, oz)
  y = DequantizeLinear(o, os, oz)
  output y
})";

std::string real_numbers_first() {
  return cat(kConstants, R"(
  q = QuantizeLinear(x, xs, xz)
  d = DequantizeLinear(q, xs, xz)
  wd = DequantizeLinear(w, ws, wz)
  bd = DequantizeLinear(b, bs)
  c = Conv(d, wd, bd)
  r = Relu(c)
  rq = QuantizeLinear(r, ys, yz)
  rd = DequantizeLinear(rq, ys, yz))",
             kSecondLayer);
}

std::string integers_first() {
  return cat(kConstants, R"(
  const three: float32[] = {3}
  const hundredth: float32[] = {0.01}
  q = QuantizeLinear(x, xs, xz)
  qf = Cast(q) {to = 1}
  d = Sub(qf, three)
  wf = Cast(w) {to = 1}
  bf = Cast(b) {to = 1}
  c = Conv(d, wf, bf)
  s = Mul(c, hundredth)
  r = Relu(s)
  rq = QuantizeLinear(r, ys, yz)
  rd = DequantizeLinear(rq, ys, yz))",
             kSecondLayer);
}

std::string operators_on_integers() {
  return cat(kConstants, R"(
  q = QuantizeLinear(x, xs, xz)
  r = QLinearConv(q, xs, xz, w, ws, wz, ys, yz, b)
  o = QLinearConv(r, ys, yz, v, ws, wz, os, oz)
  y = DequantizeLinear(o, os, oz)
  output y
})");
}

std::string with(std::string text, const std::string& old, const std::string& instead) {
  const size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return at == std::string::npos ? text : text.replace(at, old.size(), instead);
}

CertifyOptions four_probes() {
  CertifyOptions options;
  options.probes = 4;
  return options;
}

Certificate certified(const std::string& source, const std::string& target) {
  const Yardstick yardstick(parse_graph(source), four_probes());
  Certificate certificate = yardstick.judge(parse_graph(target));
  yardstick.look_for_ties(parse_graph(source), parse_graph(target), &certificate);
  return certificate;
}

TEST(RoundingTies, ExplainTwoWaysOfComputingTheSame) {
  for (const auto& [source, target] :
       {std::pair(real_numbers_first(), integers_first()), std::pair(integers_first(), real_numbers_first())}) {
    const Certificate certificate = certified(source, target);
    EXPECT_GT(certificate.max_relative(), kTolerance) << "no tie fell to the other side";
    ASSERT_TRUE(certificate.ties);
    EXPECT_EQ(certificate.ties->why_not, "");
    EXPECT_EQ(certificate.ties->n_quantisers, 3);
    EXPECT_EQ(certificate.ties->n_integers, 4 * (3 * 64 + (8 + 5) * 36));
    EXPECT_GT(certificate.ties->n_ties, 0);
    EXPECT_TRUE(certificate.within(kTolerance));
    EXPECT_NE(certificate.text().find("rounding ties explain"), std::string::npos) << certificate.text();
    EXPECT_NE(certificate.json().find("\"rounding_ties\":{\"quantisers\":3"), std::string::npos) << certificate.json();
  }
}

struct PlantedFault {
  const char *name, *old, *instead;
};

TEST(RoundingTies, ExplainNothingThatIsWrong) {
  const PlantedFault faults[] = {
      {"zero point of the quantiser", "xz: int8[] = {3}", "xz: int8[] = {4}"},
      {"zero point of what reads it", "three: float32[] = {3}", "three: float32[] = {4}"},
      {"zero point at the end", "y = DequantizeLinear(o, os, oz)", "y = DequantizeLinear(o, os, yz)"},
      {"zero point of both", "yz: int8[] = {0}", "yz: int8[] = {1}"},
      {"scale of a layer", "hundredth: float32[] = {0.01}", "hundredth: float32[] = {0.01001}"},
      {"scale of the quantiser", "rq = QuantizeLinear(r, ys, yz)",
       "const zs: float32[] = {0.0401}\n  rq = QuantizeLinear(r, zs, yz)"},
      {"scale of what reads it", "rd = DequantizeLinear(rq, ys, yz)",
       "const zs: float32[] = {0.0401}\n  rd = DequantizeLinear(rq, zs, yz)"},
      {"scale of both", "ys: float32[] = {0.04}", "ys: float32[] = {0.0401}"},
      {"bias one off", "{5, -70, 300, 0,", "{5, -70, 301, 0,"},
      {"rows swapped", "wf = Cast(w) {to = 1}",
       "const rows: int64[8] = {1, 0, 2, 3, 4, 5, 6, 7}\n  wg = Gather(w, rows)\n  wf = Cast(wg) {to = 1}"},
      {"clamp missing", "r = Relu(s)", "r = Identity(s)"},
      {"clamp in another place", "r = Relu(s)", "const low: float32[] = {0.07}\n  r = Max(s, low)"},
      {"rounded down", "r = Relu(s)", "const half: float32[] = {0.02}\n  t = Relu(s)\n  r = Sub(t, half)"},
      {"quantiser missing", "rd = DequantizeLinear(rq, ys, yz)", "rd = Identity(r)"},
      {"quantiser too many", "e = Conv(rd, vd)",
       "const coarse: float32[] = {0.08}\n  rc = QuantizeLinear(rd, coarse, yz)\n  re = DequantizeLinear(rc, coarse, "
       "yz)\n  e = Conv(re, vd)"},
  };
  for (const PlantedFault& fault : faults) {
    SCOPED_TRACE(fault.name);
    const Certificate certificate = certified(real_numbers_first(), with(integers_first(), fault.old, fault.instead));
    ASSERT_TRUE(certificate.ties);
    EXPECT_FALSE(certificate.within(kTolerance)) << certificate.text();
  }
}

// All sums are whole steps, so that nothing is at a tie; half a step more puts all of them at one.
TEST(RoundingTies, AreTheSourcesToo) {
  const auto in_whole_steps = [](const std::string& text) {
    return with(text, "ys: float32[] = {0.04}", "ys: float32[] = {0.01}");
  };
  for (const bool integers : {false, true}) {
    const std::string source = integers ? operators_on_integers() : real_numbers_first();
    const std::string half =
        cat("const half: float32[] = {0.005}\n  t = ", integers ? "Identity" : "Relu", "(s)\n  r = Add(t, half)");
    const Certificate certificate =
        certified(in_whole_steps(source), in_whole_steps(with(integers_first(), "r = Relu(s)", half)));
    ASSERT_TRUE(certificate.ties);
    EXPECT_NE(certificate.ties->why_not.find("of the source is given no number in the middle"), std::string::npos)
        << certificate.text();
  }
}

// A quantiser for what is on its grid already, as converters put in front of padding, has no pair and needs none.
TEST(RoundingTies, AreNotAtAQuantiserThatRoundsNothing) {
  const std::string target =
      with(integers_first(), "e = Conv(rd, vd)",
           "const p: int64[8] = {0, 0, 0, 0, 0, 0, 1, 1}\n  n = Pad(rd, p)\n  nq = QuantizeLinear(n, ys, yz)\n  nd = "
           "DequantizeLinear(nq, ys, yz)\n  const a: int64[2] = {0, 0}\n  const f: int64[2] = {6, 6}\n  const axes: "
           "int64[2] = {2, 3}\n  u = Slice(nd, a, f, axes)\n  e = Conv(u, vd)");
  const Certificate certificate = certified(real_numbers_first(), target);
  ASSERT_TRUE(certificate.ties);
  EXPECT_EQ(certificate.ties->n_quantisers, 4);
  EXPECT_TRUE(certificate.within(kTolerance)) << certificate.text();
}

TEST(RoundingTies, AreNotLookedForInRealNumbers) {
  const char* const net = "graph \"g\" {\n  opset 17\n  input x: float32[4]\n  y = Exp(x)\n  output y\n}\n";
  EXPECT_FALSE(computes_on_integers(parse_graph(net)));
  EXPECT_FALSE(certified(net, with(net, "Exp", "Tanh")).ties);
}

// Operators on integers sum exactly; other formats have none, or read theirs as real numbers, and two of them order axes otherwise.
TEST(RoundingTies, LetConversionsBeWritten) {
  const TemporaryFolder folder(testing::TempDir());
  for (const char* name : {"net.tflite", "net.pb", "net.keras"}) {
    SCOPED_TRACE(name);
    ConvertOptions options;
    options.certificate = four_probes();
    const std::optional<Certificate> certificate =
        convert_model(parse_graph(operators_on_integers()), folder.path() + "/" + name, options);
    ASSERT_TRUE(certificate);
    EXPECT_GT(certificate->max_relative(), kTolerance) << "no tie fell to the other side";
    ASSERT_TRUE(certificate->ties);
    EXPECT_GT(certificate->ties->n_ties, 0);
  }
}

// Its outputs alone are known.
TEST(RoundingTies, AreNotLookedForInFrameworks) {
  const TemporaryFolder folder(testing::TempDir());
  ConvertOptions options;
  options.certificate = four_probes();
  options.judge = [](const Yardstick& yardstick, const std::string&) {
    return yardstick.judge(parse_graph(with(integers_first(), "three: float32[] = {3}", "three: float32[] = {4}")));
  };
  try {
    convert_model(parse_graph(real_numbers_first()), folder.path() + "/net.tflite", options);
    FAIL() << "written";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Negative);
    EXPECT_NE(std::string(e.what()).find("a framework does not show what it rounds"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace dnn
