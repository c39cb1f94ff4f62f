// dnn-report: one page, or pages for a documentation tree, on what runs said and how they compare.
#include <filesystem>
#include <iostream>

#include "base/file.h"
#include "base/printable.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "formats/format.h"
#include "metrics/present.h"
#include "report/network.h"
#include "report/paths.h"
#include "report/report_args.h"
#include "report/tree.h"

namespace dnn::tools::dnn_report {

using report::ReportArgs;

const cli::Tool kTool = {
    .name = "dnn-report",
    .summary =
        "Writes a report on runs: agreement of every two, accuracy, times, resources, each sample on which they "
        "differ. "
        "Reads streams of dnn-infer, as dnn-eval does, and what dnn-localize --json and dnn-branch eval wrote. The "
        "HTML page works without a network and without scripts; where scripts run, its tables sort and filter. Samples "
        "that differ are shown with a thumbnail where their image can be read. The same input gives the same bytes. Of "
        "a stream that was cut off the report has what arrived and says so; exit code 3.",
    .negative = "",
    .examples = {
        {"dnn-report -o report.html a.dnns b.dnns", "one page"},
        {"dnn-report --format rst --img-dir docs/img -o docs/runs.rst a.dnns b.dnns", "pages for Sphinx"},
        {"dnn-infer model.onnx images/ | dnn-report --types performance > times.html", "of one run, the times alone"}}};

// The report's text, and the files of its figures written: it overwrites files and removes none.
std::string write_tree(const ReportArgs& o, const report::Document& document) {
  const report::TreePlaces places = report::tree_places(o.output, o.image_folder, o.root);
  const auto print = o.format == "rst" ? report::rst : report::markdown;
  const report::Tree tree = print(document, places.below, places.prefix);
  report::write_figures(tree, places);
  if (const std::vector<std::string> others = report::left_over_figures(tree, places); !others.empty())
    cli::warn(cat(plain((std::filesystem::path(places.images) / others[0]).string()),
                  others.size() > 1 ? cat(" and ", others.size() - 1, " more") : "",
                  ": left by an earlier report, and not shown by this one"));
  return tree.text;
}

std::optional<report::Localization> read_findings(const ReportArgs& o) {
  if (o.inputs.empty()) return std::nullopt;
  try {
    report::Localization found = report::parse_localization(read_file(o.inputs[0]));
    if (!o.full_paths()) report::use_base_names(&found);
    return found;
  } catch (Error& e) {
    throw e.within(o.inputs[0]);
  }
}

int draw_graphs(const ReportArgs& o) {
  const std::optional<report::Localization> found = read_findings(o);
  std::vector<report::Network> networks;
  for (const std::string& path : o.graphs)
    networks.push_back(report::network_of(read_model(path), std::filesystem::path(path).filename().string()));
  const std::string title = o.report.title == report::Options().title ? "Networks" : o.report.title;
  report::Document document = report::network_document(networks, found ? &*found : nullptr, title);
  document.made_by = cat("dnn-report ", version());
  if (o.annotate) {
    const std::string model = read_file(o.graphs.back());
    if (const Format* format = recognise(open_model(o.graphs.back()));
        format == nullptr || format->name != std::string("onnx"))
      fail_usage("--annotate: ", o.graphs.back(), " is not an ONNX file; convert it first");
    cli::Output output(*o.annotate, cli::Output::Content::Binary);
    output.write(model + report::onnx_metadata(*found));
    output.commit();
  }
  if (o.node_data) cli::write_text(*o.node_data, report::node_data_json(networks.back(), *found, networks.size() == 1));
  cli::write_text(o.output, report::html(document));
  return 0;
}

int work(const ReportArgs& o) {
  report::check_report(o);
  if (!o.graphs.empty()) return draw_graphs(o);
  if (o.list_types) {
    std::cout << report::types_list();
    return 0;
  }
  const report::Options options = o.options();
  std::vector<Error> cut_off;
  const report::Data data = report::gather(o.files(), {o.full_paths(), o.baseline}, &cut_off);
  for (size_t i = 0; i + 1 < cut_off.size(); ++i) cli::say_error(cut_off[i].what());
  if (data.runs.empty() && data.localizations.empty() && !cut_off.empty()) throw cut_off.back();
  for (const std::string& note : metrics::shard_notes(data.evaluation)) cli::warn(note);
  const report::Document document = report::make_document(data, options);
  cli::Output output(o.output, cli::Output::Content::Text);
  output.write(o.format == "html" ? report::html(document) : write_tree(o, document));
  output.commit();
  if (!cut_off.empty()) throw cut_off.back();
  return 0;
}

cli::Program program() { return cli::program(kTool, report::declare_report, work); }

}  // namespace dnn::tools::dnn_report
