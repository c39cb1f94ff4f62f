// Presentation of a localisation; see present.h.
#include "localize/present.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/rows.h"
#include "base/text.h"
#include "localize/words.h"

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;

// A layer by its node's name, or by its value's where the node has none.
std::string layer_label(const Layer& layer) { return plain(layer.node.empty() ? layer.name : layer.node); }

std::vector<size_t> ranked(const LocalizeReport& report, const std::string& sort) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < report.layers.size(); ++i) {
    if (report.layers[i].diverges) rows.push_back(i);
  }
  if (sort == "order") return rows;
  if (sort == "labels" && report.label_ranking && !report.label_ranking->rows.empty()) {
    std::vector<size_t> place(report.layers.size());
    for (size_t i = 0; i < place.size(); ++i) place[report.label_ranking->rows[i].layer] = i;
    std::sort(rows.begin(), rows.end(), [&](size_t a, size_t b) { return place[a] < place[b]; });
    return rows;
  }
  if (sort == "labels") {
    const auto p = [&](size_t i) { return report.layers[i].label_p.value_or(2); };
    std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) {
      const LayerResult &x = report.layers[a], &y = report.layers[b];
      return p(a) != p(b) ? p(a) < p(b) : x.label_effect.value_or(-2) > y.label_effect.value_or(-2);
    });
    return rows;
  }
  const auto key = [&](size_t i) { return sort == "added" ? report.layers[i].added : report.layers[i].error; };
  std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) { return key(a) > key(b); });
  return rows;
}

using words::Row;
using words::table;

std::string parameter_text(const ParameterDifference& d) {
  if (d.input < 0) return cat(plain(d.source), ": ", plain(d.relation));
  const std::string& name = d.source.empty() ? d.target : d.source;
  const Shape& shape = d.source.empty() ? d.target_shape : d.source_shape;
  std::string text = cat(plain(name), " ", shape_text(shape));
  if (!d.source.empty() && !d.target.empty() && (d.source != d.target || d.source_shape != d.target_shape))
    text += cat(" | ", plain(d.target), " ", shape_text(d.target_shape));
  text += ": " + d.relation;
  if (d.max_abs > 0) text += cat(", max abs ", words::number(d.max_abs));
  return text;
}

std::string counts_line(const LocalizeReport& report) {
  std::map<std::string_view, int64_t> by;
  for (const LayerResult& r : report.layers) ++by[by_name(r.by)];
  std::string text = cat(counted(report.layers.size(), "layer"), " lined up, of ", report.source.size(), " and ",
                         report.target.size(), ": ", by["name"], " by name, ", by["place"], " by place");
  for (const char* way : {"values", "parameters", "wiring"}) {
    if (by[way] > 0) text += cat(", ", by[way], " by ", way);
  }
  text += cat(", ", by["order"], " by order");
  if (by["given"] > 0) text += cat(", ", by["given"], " as given");
  if (report.n_withdrawn > 0) text += cat(" (", report.n_withdrawn, " more taken back: what follows them agrees)");
  return text + "\n";
}

std::string first_lines(const LocalizeReport& report, const LayerResult& r) {
  const Layer &a = report.source[r.source], &b = report.target[r.target];
  std::string out = cat("first divergent layer: ", layer_label(a));
  if (!a.op.empty()) out += cat(" (", plain(a.op), ")");
  out += cat("\n  value ", plain(a.name), " ", shape_text(a.shape));
  if (b.name != a.name || b.node != a.node || b.shape != a.shape)
    out += cat("; in the target ", layer_label(b), ", value ", plain(b.name), " ", shape_text(b.shape));
  out += cat("\n  max abs ", words::number(r.max_abs), " of ", words::number(r.largest), ", relative L2 ",
             words::number(r.error), ", of its inputs ", words::number(r.input_error), "\n");
  for (const ParameterDifference& d : report.differences) {
    if (d.layer == r.source) out += cat("  ", d.input < 0 ? "attribute " : "parameter ", parameter_text(d), "\n");
  }
  return out;
}

// Where numbers stop being finite, on either side: at most `top` layers of each, the first ones.
std::string not_finite_text(const LocalizeReport& report, int64_t top) {
  std::string out;
  const auto tell = [&](const char* side, const std::vector<Layer>& layers,
                        const std::vector<NotFiniteOrigin>& origins) {
    const size_t n = top == 0 ? origins.size() : std::min(origins.size(), static_cast<size_t>(top));
    for (size_t i = 0; i < n; ++i) {
      const NotFiniteOrigin& o = origins[i];
      const Layer& layer = layers[o.layer];
      out += cat("not finite in the ", side, ": ", layer_label(layer),
                 layer.op.empty() ? "" : cat(" (", plain(layer.op), ")"),
                 layer.role == stream::Role::Input ? " is given " : " makes ", o.n_nan > 0 ? cat(o.n_nan, " NaN") : "",
                 o.n_nan > 0 && o.n_infinite > 0 ? " and " : "",
                 o.n_infinite > 0 ? cat(o.n_infinite, o.n_infinite == 1 ? " infinity" : " infinities") : "", " in ",
                 o.n_samples, " of ", counted(report.n_samples, "sample"), ", first at ", shape_text(o.element),
                 o.sample.empty() ? "" : cat(" of ", plain(o.sample)));
      if (!o.parameter.empty()) {
        out += cat("; its parameter ", plain(o.parameter), " is not finite\n");
      } else {
        out += layer.role == stream::Role::Input ? "\n" : "; what it is computed from is finite\n";
      }
    }
    if (n < origins.size()) out += cat("(and ", origins.size() - n, " more such layers of the ", side, ")\n");
  };
  tell("source", report.source, report.source_not_finite);
  tell("target", report.target, report.target_not_finite);
  return out.empty() ? out : out + "\n";
}

Json not_finite_json(const std::vector<Layer>& layers, const std::vector<NotFiniteOrigin>& origins) {
  Json list = Json::array();
  for (const NotFiniteOrigin& o : origins) {
    const Layer& layer = layers[o.layer];
    list.push_back({{"layer", layer.name},
                    {"node", layer.node},
                    {"op", layer.op},
                    {"samples", o.n_samples},
                    {"sample", o.sample},
                    {"element", o.element},
                    {"nan", o.n_nan},
                    {"inf", o.n_infinite},
                    {"parameter", o.parameter.empty() ? Json() : Json(o.parameter)}});
  }
  return list;
}

std::string draws_text(int64_t repeats, const LabelSampling& asked) {
  return cat(counted(repeats, "draw"), " of ", counted(asked.n_equal, "sample"), " whose label is the same and ",
             asked.n_different, " whose label differs");
}

std::string label_ranking_text(const LocalizeReport& report, int64_t top) {
  const LabelRanking& ranking = *report.label_ranking;
  const std::string there = cat("of ", ranking.n_equal, " and ", ranking.n_different);
  if (ranking.rows.empty())
    return cat("\nno ranking by labels: not even ", draws_text(1, ranking.asked), " can be made ", there, "\n");
  const auto n_draws = static_cast<int64_t>(ranking.draws.size());
  const size_t n = top == 0 ? ranking.rows.size() : std::min(ranking.rows.size(), static_cast<size_t>(top));
  std::string out =
      cat("\nranked by labels, by ", draws_text(n_draws, ranking.asked), ", ", there, ", seed ", ranking.asked.seed);
  if (n_draws < ranking.asked.n_repeats) out += cat(" (", ranking.asked.n_repeats, " asked for)");
  out += cat(n < ranking.rows.size() ? cat(" (the first ", counted(n, "layer"), ")") : "", ":\n");
  std::vector<Row> cells = {{"", "layer", "op", "points", "effects", "label p"}};
  for (size_t i = 0; i < n; ++i) {
    const LabelRanking::Row& row = ranking.rows[i];
    const Layer& layer = report.source[report.layers[row.layer].source];
    const auto numbers = [](const std::vector<std::optional<double>>& values) {
      std::vector<std::string> texts;
      for (const std::optional<double>& value : values) texts.push_back(value ? words::number(*value) : "-");
      return join(texts, " ");
    };
    cells.push_back(
        {cat(i + 1), layer_label(layer), plain(layer.op), exact_text(row.points), numbers(row.effect), numbers(row.p)});
  }
  return out + table(cells, {false, true, true, false, true, true}) +
         cat("points: Borda count of the draws, at most ", n_draws * static_cast<int64_t>(ranking.rows.size() - 1),
             "; effect 1: it errs more on each sample whose label differs\n");
}

Json label_ranking_json(const LocalizeReport& report) {
  const LabelRanking& ranking = *report.label_ranking;
  Json json = {{"samples_equal", ranking.asked.n_equal},
               {"samples_different", ranking.asked.n_different},
               {"repeats", ranking.asked.n_repeats},
               {"seed", ranking.asked.seed},
               {"equal", ranking.n_equal},
               {"different", ranking.n_different},
               {"draws", Json::array()},
               {"layers", Json::array()}};
  const auto names = [&](const std::vector<size_t>& samples) {
    Json list = Json::array();
    for (size_t i : samples) list.push_back({{"sample", i + 1}, {"name", report.sample_names.at(i)}});
    return list;
  };
  for (const LabelRanking::Draw& draw : ranking.draws)
    json["draws"].push_back({{"equal", names(draw.equal)}, {"different", names(draw.different)}});
  const auto numbers = [](const std::vector<std::optional<double>>& values) {
    Json list = Json::array();
    for (const std::optional<double>& value : values) list.push_back(value ? words::json_number(*value) : Json());
    return list;
  };
  for (const LabelRanking::Row& row : ranking.rows)
    json["layers"].push_back({{"layer", report.source[report.layers[row.layer].source].name},
                              {"points", row.points},
                              {"p", numbers(row.p)},
                              {"effect", numbers(row.effect)}});
  return json;
}

Json layer_json(const LocalizeReport& report, const LayerResult& r) {
  const auto side = [](const Layer& layer) {
    return Json{{"name", layer.name}, {"node", layer.node}, {"op", layer.op}, {"shape", layer.shape}};
  };
  return {{"source", side(report.source[r.source])},
          {"target", side(report.target[r.target])},
          {"by", by_name(r.by)},
          {"transposed", r.transposed},
          {"recomputed", r.recomputed},
          {"samples", r.n_samples},
          {"max_abs", words::json_number(r.max_abs)},
          {"largest", words::json_number(r.largest)},
          {"error", words::json_number(r.error)},
          {"input_error", words::json_number(r.input_error)},
          {"added", words::json_number(r.added)},
          {"diverges", r.diverges},
          {"makes", r.makes},
          {"label_p", r.label_p ? words::json_number(*r.label_p) : Json()},
          {"label_effect", r.label_effect ? words::json_number(*r.label_effect) : Json()}};
}

// The layers that `how` asks for, one a row.
std::string layers_text(const LocalizeReport& report, const LocalizePresentation& how) {
  const std::vector<size_t> rows = ranked(report, how.sort);
  const size_t n = how.top == 0 ? rows.size() : std::min(rows.size(), static_cast<size_t>(how.top));
  std::vector<Row> cells = {{"", "layer", "op", "max abs", "rel L2", "of inputs", "added"}};
  const bool labels = report.n_relabelled > 0 && report.n_relabelled < report.n_samples;
  if (labels) cells[0].insert(cells[0].end(), {"label p", "effect"});
  cells[0].insert(cells[0].end(), {"", ""});
  bool recomputed = false;
  for (size_t i = 0; i < n; ++i) {
    const LayerResult& r = report.layers[rows[i]];
    const Layer &a = report.source[r.source], &b = report.target[r.target];
    recomputed = recomputed || r.recomputed;
    const std::string other = layer_label(a) == layer_label(b) ? "" : layer_label(b);
    if (!other.empty()) cells[0].back() = "in the target";
    cells.push_back({cat(i + 1), layer_label(a) + (r.recomputed ? " *" : ""), plain(a.op), words::number(r.max_abs),
                     words::number(r.error), words::number(r.input_error), words::number(r.added)});
    if (labels)
      cells.back().insert(cells.back().end(), {r.label_p ? words::number(*r.label_p) : "-",
                                               r.label_effect ? words::number(*r.label_effect) : "-"});
    cells.back().insert(cells.back().end(), {r.makes ? "makes it" : r.added > 0 ? "adds" : "passes on", other});
  }
  const std::string order = how.sort == "order" ? "in order of execution" : "by " + how.sort;
  std::vector<bool> left = {false, true, true, false, false, false, false, true, true};
  if (labels) left.insert(left.begin() + 7, {false, false});
  std::string out = cat("\n", report.n_diverging, " of ", counted(report.layers.size(), "layer"),
                        report.layers.size() == 1 ? " diverges, " : " diverge, ", order,
                        n < rows.size() ? cat(" (the first ", n, ")") : "", ":\n");
  out += table(cells, left);
  if (labels)
    out += cat("label p: whether a layer errs more on the ", report.n_relabelled, " of ", report.n_samples,
               " samples whose label differs (Mann-Whitney, corrected by Holm); effect: 1 where it always does\n");
  if (recomputed) out += "* fused away on one side, and computed beside its run\n";
  return out;
}

std::string differences_text(const LocalizeReport& report, int64_t top) {
  if (report.differences.empty()) {
    if (report.n_parameters <= 0) return "";
    return cat("\n", report.n_parameters == 1 ? "the one parameter" : cat("all ", report.n_parameters, " parameters"),
               " of lined-up nodes ", report.n_parameters == 1 ? "is" : "are", " the same\n");
  }
  const size_t n = top == 0 ? report.differences.size() : std::min(report.differences.size(), static_cast<size_t>(top));
  std::string out =
      cat("\nnot the same, of ", counted(report.n_parameters, "parameter"), " and the attributes of lined-up nodes",
          n < report.differences.size() ? cat(" (the first ", n, " of ", report.differences.size(), ")") : "", ":\n");
  for (size_t i = 0; i < n; ++i) {
    const ParameterDifference& d = report.differences[i];
    out += cat("  ", layer_label(report.source[d.layer]), ": ", parameter_text(d), "\n");
  }
  return out;
}

Json by_sample_json(const LocalizeReport& report) {
  Json samples = Json::array(), errors = Json::array();
  for (const ShownSample& sample : report.shown_samples)
    samples.push_back({{"name", sample.name}, {"relabelled", sample.relabelled}});
  for (const LayerResult& r : report.layers) {
    errors.push_back(Json::array());
    for (const std::optional<double>& error : r.sample_errors)
      errors.back().push_back(error ? words::json_number(*error) : Json());
  }
  return {{"samples", samples},
          {"left_out", report.n_samples - static_cast<int64_t>(report.shown_samples.size())},
          {"errors", errors}};
}

Json difference_json(const LocalizeReport& report, const ParameterDifference& d) {
  Json entry = {{"layer", report.source[d.layer].name}, {"node", d.node}, {"relation", d.relation}};
  if (d.input < 0) {
    entry["attribute"] = d.source;
  } else {
    entry["input"] = d.input;
    entry["source"] = d.source;
    entry["target"] = d.target;
    entry["source_shape"] = d.source_shape;
    entry["target_shape"] = d.target_shape;
    entry["max_abs"] = words::json_number(d.max_abs);
  }
  return entry;
}

}  // namespace

std::string localize_table(const LocalizeReport& report, const LocalizePresentation& how) {
  std::string out = cat("source ", plain(how.source), "\ntarget ", plain(how.target), "\n",
                        counted(report.n_samples, "sample"), report.not_judged.text(), "; ", counts_line(report));
  if (report.ran_out == true)
    out += "the time ran out (--time-limit): samples or layers were left out, and what follows is not all\n";
  if (report.quantisation) out += quantisation_text(*report.quantisation, how.top);
  if (report.small_floats) out += small_floats_text(*report.small_floats);
  if (report.residual) out += findings_text(report.findings, *report.residual, how.top);
  if (report.reduced) out += reduced_text(*report.reduced);
  if (report.residual) out += "\n";
  if (!report.outputs_lined_up)
    out += "some outputs have no partner of their shape in the other network: they are not compared\n\n";
  if (report.residual && report.findings.empty() && report.first && !report.explained)
    out +=
        "this does not explain how far the outputs are apart: inputs or outputs may mean something else\n"
        "(--preprocessing searches that), or a layer could not be run by itself\n\n";
  out += not_finite_text(report, how.top);
  if (report.first) {
    out += first_lines(report, report.layers[*report.first]);
    out += layers_text(report, how);
  } else {
    out += "no layer diverges\n";
  }
  if (report.label_ranking) out += label_ranking_text(report, how.top);
  return out + differences_text(report, how.top);
}

std::string localize_json(const LocalizeReport& report, const LocalizePresentation& how) {
  Json json = {{"source", how.source},
               {"target", how.target},
               {"samples", report.n_samples},
               {"source_layers", report.source.size()},
               {"target_layers", report.target.size()},
               {"relabelled", report.n_relabelled},
               {"diverging", report.n_diverging},
               {"withdrawn", report.n_withdrawn},
               {"first", report.first ? layer_json(report, report.layers[*report.first]) : Json(nullptr)},
               {"ranked", Json::array()},
               {"layers", Json::array()},
               {"outputs", Json::array()},
               {"by_sample", nullptr},
               {"not_finite",
                {{"source", not_finite_json(report.source, report.source_not_finite)},
                 {"target", not_finite_json(report.target, report.target_not_finite)}}},
               {"parameters_compared", report.n_parameters},
               {"parameters", Json::array()}};
  report.not_judged.put_into(&json);
  if (report.ran_out) json["ran_out"] = *report.ran_out;
  if (report.label_ranking) json["label_ranking"] = label_ranking_json(report);
  if (report.reduced) json["reduced"] = reduced_json(*report.reduced);
  for (size_t i : ranked(report, how.sort)) json["ranked"].push_back(report.source[report.layers[i].source].name);
  for (const LayerResult& r : report.layers) {
    json["layers"].push_back(layer_json(report, r));
    if (report.source[r.source].role == stream::Role::Output) json["outputs"].push_back(json["layers"].back());
  }
  json["by_sample"] = by_sample_json(report);
  for (const ParameterDifference& d : report.differences) json["parameters"].push_back(difference_json(report, d));
  if (!report.maps.empty()) {
    json["maps"] = Json::array();
    for (const ShownMaps& shown : report.maps) json["maps"].push_back(shown_maps_json(shown));
  }
  if (report.quantisation) json["quantisation"] = Json::parse(quantisation_json(*report.quantisation));
  if (report.small_floats) json["small_floats"] = Json::parse(small_floats_json(*report.small_floats));
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (report.residual) {
    text.back() = ',';
    text += findings_json(report.findings, *report.residual) + "}";
  }
  return text + "\n";
}

}  // namespace dnn
