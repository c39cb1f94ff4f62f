// Paths without the folders of the machine that they are of.
#include "report/paths.h"

#include <gtest/gtest.h>

namespace dnn::report {
namespace {

TEST(Paths, TextKeepsBaseNames) {
  EXPECT_EQ(with_base_names("exec:python3 '/home/jane/my.py' ../x/y.npy ~/z"), "exec:python3 'my.py' y.npy z");
  EXPECT_EQ(with_base_names("Incomplete: /srv/a/run.dnns: truncated"), "Incomplete: run.dnns: truncated");
  EXPECT_EQ(with_base_names("--labels=/home/jane/l.txt,/tmp/m.txt"), "--labels=l.txt,m.txt");
  EXPECT_EQ(with_base_names("imgs/cat/1.png 3/4 a / b"), "imgs/cat/1.png 3/4 a  b");
  EXPECT_EQ(with_base_names("/home/jane/"), "jane");
  EXPECT_EQ(with_base_names(""), "");
}

TEST(Paths, AWordMayHoldBlanks) {
  EXPECT_EQ(word_with_base_names("/home/jane doe/a b.onnx"), "a b.onnx");
  EXPECT_EQ(word_with_base_names("x=/home/jane doe/a b.npy"), "x=a b.npy");
  EXPECT_EQ(word_with_base_names("--labels=/home/jane doe/l.txt"), "--labels=l.txt");
  EXPECT_EQ(word_with_base_names("net.onnx"), "net.onnx");
}

TEST(Paths, AHeaderNamesNoFolder) {
  stream::Header header;
  header.command = {"/usr/local/bin/dnn-infer", "--labels=/home/jane/l.txt", "/home/jane/net.onnx", "imgs/"};
  header.model.path = "/home/jane/net.onnx";
  header.device = "exec:python3 /home/jane/device.py";
  header.preprocess = R"({"name":"exec:/home/jane/p.py"})";
  header.host["postprocess"] = "exec:/home/jane/q.py";
  header.inputs.emplace_back().command = {"cat", "/home/jane/r.dnns"};
  use_base_names(&header);
  EXPECT_EQ(header.command, (std::vector<std::string>{"dnn-infer", "--labels=l.txt", "net.onnx", "imgs/"}));
  EXPECT_EQ(header.model.path, "net.onnx");
  EXPECT_EQ(header.device, "exec:python3 device.py");
  EXPECT_EQ(header.preprocess, R"({"name":"exec:p.py"})");
  EXPECT_EQ(header.host["postprocess"], "exec:q.py");
  EXPECT_EQ(header.inputs[0].command[1], "r.dnns");
}

TEST(Paths, ABranchedNetworkNamesNoFolder) {
  Branched network;
  network.name = "/home/jane/cfgs/net.yaml";
  network.at_once.device = "all at once";
  network.alone = {{"unix:/home/jane/serve", 1, 2}, {"cpu@0", 1, 2}};
  network.best = "unix:/home/jane/serve";
  network.segments = {{"conv .. pool", "C (unix:/home/jane/serve)", false, 0, 1}};
  use_base_names(&network);
  EXPECT_EQ(network.name, "net.yaml");
  EXPECT_EQ(network.at_once.device, "all at once");
  EXPECT_EQ(network.alone[0].device, "unix:serve");
  EXPECT_EQ(network.alone[1].device, "cpu@0");
  EXPECT_EQ(network.best, "unix:serve");
  EXPECT_EQ(network.segments[0].part, "C (unix:serve)");
}

TEST(Paths, SamplesAreShownBelowTheirFolder) {
  using Paths = std::vector<std::string>;
  EXPECT_EQ(shown_paths({"/home/jane/imgs/cat/1.png", "/home/jane/imgs/dog/2.png"}), (Paths{"cat/1.png", "dog/2.png"}));
  EXPECT_EQ(shown_paths({"/home/jane/1.png"}), Paths{"1.png"});
  EXPECT_EQ(shown_paths({"/home/jane/a/b/c/1.png", "/srv/2.png"}), (Paths{"c/1.png", "srv/2.png"}));
  EXPECT_EQ(shown_paths({"imgs/cat/1.png", "ones:0"}), (Paths{"imgs/cat/1.png", "ones:0"}));
  EXPECT_EQ(shown_paths({}), Paths{});
}

}  // namespace
}  // namespace dnn::report
