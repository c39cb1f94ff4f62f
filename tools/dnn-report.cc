// dnn-report: one page, or pages for a documentation tree, on what runs said and how they compare.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "base/file.h"
#include "base/printable.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "formats/format.h"
#include "metrics/families.h"
#include "report/legacy.h"
#include "report/network.h"
#include "report/paths.h"
#include "report/report.h"
#include "stream/stream.h"

namespace {

using namespace dnn;

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

struct Options {
  std::vector<std::string> inputs;
  std::string output = "-", format = "html", types;
  report::Options report;
  std::string paths = "base", baseline = std::string(metrics::kPlainest);
  std::optional<std::string> image_folder, root;
  bool no_thumbnails = false, list_types = false;
  std::vector<std::string> graphs;
  std::optional<std::string> node_data, annotate;
};

void declare(cli::Args& args, Options& o) {
  args.positionals(
      &o.inputs, "FILE",
      "streams, JSON of dnn-localize and dnn-branch eval, measurements of Kenning; '-' or none is standard input", 0);
  args.option(&o.report.title, "--title", "TEXT", "heading of the report");
  args.choice(&o.format, "--format", {"html", "rst", "md"},
              "one page, or reStructuredText or Markdown with figures as files");
  args.option(
      &o.baseline, "--baseline", "RUN",
      "the run that the others are held against: its letter, its model's name, or auto, the plainest of the first "
      "run's model");
  args.option(&o.types, "--types", "LIST",
              "parts, as performance,classification,comparison,localization (default: all)");
  args.option(&o.image_folder, "--img-dir", "DIR", "where figures of rst and md go (default: beside the report)");
  args.option(&o.root, "--root-dir", "DIR", "what rst and md name figures relative to (default: where the report is)");
  args.option(&o.report.image_root, "--images", "DIR",
              "where the samples' images are: thumbnails are of files below it alone (default: here)");
  args.choice(&o.paths, "--paths", {"base", "full"},
              "file names alone, or with their folders, as the streams have them");
  args.list(&o.graphs, "--graph", "MODEL",
            "draw a network; twice: source and target, lined up by FILE of dnn-localize");
  args.option(&o.node_data, "--node-data", "FILE", "of --graph: the last MODEL's errors by layer, for Model Explorer");
  args.option(&o.annotate, "--annotate", "FILE", "of --graph: the last MODEL, ONNX, with the findings in its metadata");
  args.flag(&o.no_thumbnails, "--no-thumbnails", "read no images");
  args.flag(&o.list_types, "--list-types", "print the sections, tab-separated: part, section, what it shows");
  args.output(&o.output);
}

// Reads one file; what ends it early is returned, so that all that arrived can be used first.
std::optional<Error> read(const std::string& path, report::Collector& collector,
                          std::vector<report::Localization>* localizations, std::vector<report::Branched>* branched) {
  PeekSource source(open_source(path));
  if (const std::optional<std::string> text = report::json_of(source)) {
    try {
      if (report::is_branched(*text)) {
        for (report::Branched& network : report::parse_branched(*text)) branched->push_back(std::move(network));
      } else if (report::is_measurements(*text)) {
        for (stream::Record& record : report::records_of_measurements(*text, source_name(path)))
          collector.add(std::move(record));
      } else {
        localizations->push_back(report::parse_localization(*text));
      }
    } catch (Error& e) {
      throw e.within(source_name(path));
    }
    return std::nullopt;
  }
  stream::Reader reader(source, source_name(path));
  try {
    while (std::optional<stream::Record> record = reader.next()) collector.add(std::move(*record));
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Malformed) return e;
    throw;
  }
  return reader.truncated() ? std::optional(reader.truncation()) : std::nullopt;
}

// Warns of figures whose names begin as those of this report but which are none of its: it overwrites files and removes none.
void warn_of_others(const std::filesystem::path& folder, const std::string& prefix, const report::Tree& tree) {
  std::set<std::string> others;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(prefix + "_") && (name.ends_with(".svg") || name.ends_with(".png"))) others.insert(name);
  }
  for (const report::Tree::File& file : tree.files) others.erase(file.name);
  if (others.empty()) return;
  cli::warn(cat(plain((folder / *others.begin()).string()),
                others.size() > 1 ? cat(" and ", others.size() - 1, " more") : "",
                ": left by an earlier report, and not shown by this one"));
}

// The report's text, and the files of its figures written. Their names begin with the report's own.
std::string write_tree(const Options& o, const report::Document& document) {
  namespace fs = std::filesystem;
  const fs::path output = o.output == "-" ? "report" : o.output;
  const auto folder = [](const fs::path& path) { return fs::absolute(path.empty() ? "." : path).lexically_normal(); };
  const fs::path images = folder(o.image_folder ? fs::path(*o.image_folder) : output.parent_path());
  const fs::path root = folder(o.root ? fs::path(*o.root) : output.parent_path());
  std::string below = images.lexically_relative(root).generic_string();
  below = below == "." || below.empty() ? "" : below + (below.ends_with('/') ? "" : "/");
  std::string prefix = output.stem().string();
  for (char& c : prefix) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '-';
  }
  const report::Tree tree =
      o.format == "rst" ? report::rst(document, below, prefix) : report::markdown(document, below, prefix);
  if (!tree.files.empty()) make_folders(images.string());
  for (const report::Tree::File& file : tree.files) write_file((images / file.name).string(), file.content);
  warn_of_others(images, prefix, tree);
  return tree.text;
}

report::Network network_of(const std::string& path) {
  const Graph graph = read_model(path);
  report::Network network;
  network.name = std::filesystem::path(path).filename().string();
  std::map<ValueId, size_t> makers;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    report::Network::Node shown{node.name, node.op, {}, {}};
    for (const ValueId input : node.inputs) {
      const auto maker = makers.find(input);
      if (maker == makers.end()) continue;
      if (std::find(shown.inputs.begin(), shown.inputs.end(), maker->second) == shown.inputs.end())
        shown.inputs.push_back(maker->second);
    }
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      shown.outputs.push_back(graph.value(output).name);
      makers[output] = network.nodes.size();
    }
    network.nodes.push_back(std::move(shown));
  }
  return network;
}

void write_whole(const std::string& path, const std::string& content, cli::Output::Content kind) {
  cli::Output output(path, kind);
  output.write(content);
  output.commit();
}

int draw_graphs(const Options& o) {
  if (o.graphs.size() > 2) fail_usage("--graph takes one or two models, not ", o.graphs.size());
  if (o.inputs.size() > 1) fail_usage("--graph takes one FILE, the JSON of dnn-localize, not ", o.inputs.size());
  if (o.format != "html") fail_usage("--graph writes an HTML page; leave out --format");
  if ((o.node_data || o.annotate) && o.inputs.empty())
    fail_usage(o.node_data ? "--node-data" : "--annotate", " needs the JSON of dnn-localize as FILE");
  std::optional<report::Localization> found;
  if (!o.inputs.empty()) {
    try {
      found = report::parse_localization(read_file(o.inputs[0]));
    } catch (Error& e) {
      throw e.within(o.inputs[0]);
    }
    if (o.paths != "full") report::use_base_names(&*found);
  }
  std::vector<report::Network> networks;
  for (const std::string& path : o.graphs) networks.push_back(network_of(path));
  const std::string title = o.report.title == report::Options().title ? "Networks" : o.report.title;
  report::Document document = report::network_document(networks, found ? &*found : nullptr, title);
  document.made_by = cat("dnn-report ", version());
  if (o.annotate) {
    const std::string model = read_file(o.graphs.back());
    if (const Format* format = recognise(open_model(o.graphs.back()));
        format == nullptr || format->name != std::string("onnx"))
      fail_usage("--annotate: ", o.graphs.back(), " is not an ONNX file; convert it first");
    write_whole(*o.annotate, model + report::onnx_metadata(*found), cli::Output::Content::Binary);
  }
  if (o.node_data)
    cli::write_text(*o.node_data, report::node_data_json(networks.back(), *found, networks.size() == 1));
  cli::write_text(o.output, report::html(document));
  return 0;
}

int work(const Options& o) {
  if (!o.graphs.empty()) return draw_graphs(o);
  if (o.node_data || o.annotate) fail_usage(o.node_data ? "--node-data" : "--annotate", " goes with --graph");
  if (o.list_types) {
    std::cout << report::types_list();
    return 0;
  }
  if (o.format == "html" && (o.image_folder || o.root))
    fail_usage(o.root ? "--root-dir" : "--img-dir", ": an HTML page holds its figures; --format rst or md");
  report::Options options = o.report;
  if (!o.types.empty()) options.types = report::types_from_text(o.types);
  options.thumbnails = !o.no_thumbnails;
  const bool full_paths = o.paths == "full";
  report::Collector collector(full_paths);
  collector.set_baseline(o.baseline);
  std::vector<report::Localization> localizations;
  std::vector<report::Branched> branched;
  std::vector<std::string> warnings;
  std::optional<Error> cut_off;
  for (const std::string& path : o.inputs.empty() ? std::vector<std::string>{"-"} : o.inputs) {
    if (std::optional<Error> error = read(path, collector, &localizations, &branched)) {
      if (cut_off) cli::say_error(cut_off->what());
      warnings.emplace_back(cat("Incomplete: ", full_paths ? error->what() : report::with_base_names(error->what())));
      cut_off = std::move(error);
    }
  }
  report::Data data = collector.finish();
  if (data.runs.empty() && localizations.empty() && cut_off) throw *cut_off;
  if (!full_paths) {
    for (report::Localization& found : localizations) report::use_base_names(&found);
    for (report::Branched& network : branched) report::use_base_names(&network);
  }
  data.localizations = std::move(localizations);
  data.branched = std::move(branched);
  data.warnings = std::move(warnings);
  const report::Document document = report::make_document(data, options);
  cli::Output output(o.output, cli::Output::Content::Text);
  output.write(o.format == "html" ? report::html(document) : write_tree(o, document));
  output.commit();
  if (cut_off) throw *cut_off;
  return 0;
}

}  // namespace

cli::Program dnn_report() { return cli::program(kTool, declare, work); }
