// Options of reports; see report_args.h.
#include "report/report_args.h"

namespace dnn::report {

Options ReportArgs::options() const {
  Options options = report;
  if (!types.empty()) options.types = types_from_text(types);
  options.thumbnails = !no_thumbnails;
  return options;
}

void declare_report(cli::Args& args, ReportArgs& o) {
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

void check_report(const ReportArgs& o) {
  const char* const of_graph = o.node_data ? "--node-data" : "--annotate";
  const bool wants_findings = o.node_data || o.annotate;
  if (o.graphs.empty()) {
    if (wants_findings) fail_usage(of_graph, " goes with --graph");
    if (!o.list_types && o.format == "html" && (o.image_folder || o.root))
      fail_usage(o.root ? "--root-dir" : "--img-dir", ": an HTML page holds its figures; --format rst or md");
    return;
  }
  if (o.graphs.size() > 2) fail_usage("--graph takes one or two models, not ", o.graphs.size());
  if (o.inputs.size() > 1) fail_usage("--graph takes one FILE, the JSON of dnn-localize, not ", o.inputs.size());
  if (o.format != "html") fail_usage("--graph writes an HTML page; leave out --format");
  if (wants_findings && o.inputs.empty()) fail_usage(of_graph, " needs the JSON of dnn-localize as FILE");
}

}  // namespace dnn::report
