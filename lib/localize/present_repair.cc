// Reports of a repair; see repair_model.h.
#include "base/counted.h"
#include "localize/repair_model.h"
#include "localize/words.h"

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;

const char* verdict_text(RepairReport::Verdict verdict) {
  switch (verdict) {
    case RepairReport::Verdict::Healthy: return "healthy";
    case RepairReport::Verdict::Repaired: return "repaired";
    case RepairReport::Verdict::NotRepaired: return "not repaired";
  }
  return "";
}

std::string apart_text(const Apart& apart) {
  return cat(
      apart.n_relabelled, " of ", counted(apart.n_images, "label"), apart.n_images == 1 ? " differs" : " differ",
      apart.n_ties == 0 ? "" : cat(" (", apart.n_ties, apart.n_ties == 1 ? " more is a tie)" : " more are ties)"),
      ", outputs by ", words::number(apart.distance), " of their largest");
}

Json apart_json(const Apart& apart) {
  return {{"images", apart.n_images},
          {"labels_differing", apart.n_relabelled},
          {"ties", apart.n_ties},
          {"distance", words::json_number(apart.distance)}};
}

const Finding* find_finding(const RepairReport& report, size_t own) {
  for (const Finding& finding : report.findings) {
    if (finding.own == own) return &finding;
  }
  return nullptr;
}

}  // namespace

std::string repair_text(const RepairReport& r) {
  std::string out = cat("source ", plain(r.source), "\ntarget ", plain(r.target), "\n");
  if (r.n_searched > 0)
    out += cat(counted(r.n_searched, "sample"), " searched: ", counted(r.findings.size(), "fault"), "\n");
  if (r.ran_out == true) out += "the time ran out (--time-limit): what was found by then is below\n";
  int i = 0;
  for (const SegmentRepair& repair : r.repairs) {
    const Finding* finding = find_finding(r, repair.own);
    out += cat(++i, ". ", finding == nullptr ? "" : plain(join(finding->target.nodes)), ": ",
               finding == nullptr ? "" : plain(finding->what), "\n");
    for (size_t e = 0; e < repair.edits.size(); ++e)
      out += cat("   ", edit_text(repair.edits[e]), "; without it ", words::number(repair.times_without[e]),
                 " times what rounding explains\n");
    if (repair.edits.empty()) {
      out += cat("   not repaired: ", plain(repair.why_not), "\n");
    } else {
      out += cat("   ", words::number(repair.times_before), " times what rounding explains before, ",
                 words::number(repair.times_after), " after\n");
    }
  }
  if (r.repairs.empty()) {
    for (const Edit& edit : r.edits) out += cat("   ", edit_text(edit), "\n");
  }
  if (r.before.n_images > 0) {
    out += cat(
        "on ", counted(r.before.n_images, "sample"),
        r.unseen ? " that the search did not see:\n" : ", which the search has seen (give more to judge on others):\n",
        "  before: ", apart_text(r.before), "\n  after: ", apart_text(r.after), "\n");
    for (const Finding& f : r.left)
      out += cat("  left: ", plain(join(f.target.nodes)), " (", plain(join(f.target.ops)), "): ", plain(f.what), "\n");
  }
  if (r.noise && r.noise->why_not.empty())
    out += cat("  as it runs: outputs are ", words::number(r.noise->apart),
               " of the source's from these, of which its quantisers explain ", words::number(r.noise->explained),
               " (root mean squares)\n");
  if (r.verdict == RepairReport::Verdict::Healthy) {
    if (r.n_parameters_differing > 0)
      out +=
          cat(r.n_parameters_differing,
              r.n_parameters_differing == 1 ? " parameter or attribute differs" : " parameters and attributes differ",
              ", without effect on these inputs\n");
    return out + cat("healthy on all ", counted(r.n_judged, "sample"), ": nothing is repaired, and nothing written\n");
  }
  if (!r.output.empty())
    out += cat("written as ", plain(r.output), r.certificate ? cat(": ", r.certificate->text()) : "", "\n");
  if (!r.between_quantisers.empty())
    out += cat("no operators on integers any more, and written between quantisers: ", plain(join(r.between_quantisers)),
               "\n");
  if (r.verdict == RepairReport::Verdict::Repaired)
    return out + cat("repaired: right on all ", counted(r.n_judged, "sample"), "\n");
  if (r.not_judged.any()) out += cat(counted(r.n_judged, "sample"), " judged", r.not_judged.text(), "\n");
  return out + verdict_text(r.verdict) + (r.why_not.empty() ? "" : cat(": ", plain(r.why_not))) + "\n";
}

std::string repair_json(const RepairReport& r) {
  Json repairs = Json::array();
  for (const SegmentRepair& repair : r.repairs) {
    const Finding* finding = find_finding(r, repair.own);
    Json edits = Json::array();
    for (size_t e = 0; e < repair.edits.size(); ++e)
      edits.push_back(
          {{"edit", edit_text(repair.edits[e])}, {"times_without", words::json_number(repair.times_without[e])}});
    repairs.push_back({{"what", finding == nullptr ? "" : finding->what},
                       {"nodes", finding == nullptr ? std::vector<std::string>() : finding->target.nodes},
                       {"edits", edits},
                       {"times_before", words::json_number(repair.times_before)},
                       {"times_after", words::json_number(repair.times_after)},
                       {"why_not", repair.why_not}});
  }
  Json left = Json::array();
  for (const Finding& f : r.left) left.push_back({{"what", f.what}, {"nodes", f.target.nodes}});
  Json json = {{"source", r.source},
               {"target", r.target},
               {"verdict", verdict_text(r.verdict)},
               {"written", r.output.empty() ? Json() : Json(r.output)},
               {"searched", r.n_searched},
               {"parameters_differing", r.n_parameters_differing},
               {"judged", r.n_judged},
               {"unseen", r.unseen},
               {"repairs", repairs},
               {"edits", Json::parse(edits_json(r.edits)).at("edits")},
               {"before", apart_json(r.before)},
               {"after", apart_json(r.after)},
               {"left", left},
               {"between_quantisers", r.between_quantisers},
               {"certificate", r.certificate ? Json::parse(r.certificate->json()) : Json()},
               {"why_not", r.why_not}};
  if (r.noise)
    json["noise"] = {{"samples", r.noise->n_samples},
                     {"apart", words::json_number(r.noise->apart)},
                     {"explained", words::json_number(r.noise->explained)},
                     {"from", r.noise->from},
                     {"why_not", r.noise->why_not}};
  r.not_judged.put_into(&json);
  if (r.ran_out) json["ran_out"] = *r.ran_out;
  return words::json_line(json);
}

}  // namespace dnn
