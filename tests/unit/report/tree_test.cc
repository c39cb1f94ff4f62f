// Where pages for a documentation tree and their figures go.
#include "report/tree.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"

namespace dnn::report {
namespace {

namespace fs = std::filesystem;

TEST(TreePlaces, FiguresLieBesideThePageUnlessToldOtherwise) {
  const TreePlaces beside = tree_places("/docs/runs.rst", std::nullopt, std::nullopt);
  EXPECT_EQ(beside.images, "/docs");
  EXPECT_EQ(beside.below, "");
  EXPECT_EQ(beside.prefix, "runs");
  const TreePlaces apart = tree_places("/docs/runs.rst", "/docs/img/new", std::nullopt);
  EXPECT_EQ(apart.images, "/docs/img/new");
  EXPECT_EQ(apart.below, "img/new/");
  EXPECT_EQ(tree_places("/docs/a/runs.rst", "/docs/img", "/docs").below, "img/");
  EXPECT_EQ(tree_places("/docs/a/runs.rst", "/docs/img/", std::nullopt).below, "../img/");
}

TEST(TreePlaces, NamesOfFiguresHoldLettersDigitsAndDashes) {
  EXPECT_EQ(tree_places("/docs/my runs_2.v1.rst", std::nullopt, std::nullopt).prefix, "my-runs-2-v1");
  const TreePlaces standard_output = tree_places("-", std::nullopt, std::nullopt);
  EXPECT_EQ(standard_output.prefix, "report");
  EXPECT_EQ(standard_output.images, fs::current_path().string() + "/");
}

TEST(TreePlaces, FiguresOfAnEarlierReportAreFound) {
  const TemporaryFolder folder(fs::temp_directory_path().string());
  const TreePlaces places = {folder.path() + "/img", "", "runs"};
  const Tree tree = {"text", {{"runs_a.svg", "<svg/>"}, {"runs_b.png", "png"}}};
  write_figures(tree, places);
  EXPECT_EQ(read_file(places.images + "/runs_a.svg"), "<svg/>");
  EXPECT_EQ(left_over_figures(tree, places), std::vector<std::string>{});
  for (const char* name : {"runs_z.svg", "runs_c.png", "runs_c.txt", "other_a.svg", "runsa.svg"})
    write_file(places.images + "/" + name, "old");
  EXPECT_EQ(left_over_figures(tree, places), (std::vector<std::string>{"runs_c.png", "runs_z.svg"}));
  EXPECT_EQ(left_over_figures(tree, {folder.path() + "/nowhere", "", "runs"}), std::vector<std::string>{});
}

}  // namespace
}  // namespace dnn::report
