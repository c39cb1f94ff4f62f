// Repairing a model file as a command line asks for it, and the report for people and programs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "convert/certificate.h"
#include "localize/localize_models.h"
#include "localize/quantised_noise.h"
#include "localize/repair.h"

namespace dnn {

struct RepairRequest : LocalizeRequest {
  std::string output;                                         // the repaired model, in the target's format
  std::function<void(const std::vector<Edit>& edits)> found;  // before anything is written; may be empty
  std::string apply;  // edits that are made in place of a search: what --edits wrote; "": search
};

// How far a target's outputs are from the source's.
struct Apart {
  int64_t n_images = 0, n_relabelled = 0;
  int64_t n_ties = 0;   // other labels, with outputs within the tolerance: as good as equal in the source
  double distance = 0;  // the largest difference of an output, of its largest magnitude
};

struct RepairReport {
  enum class Verdict : uint8_t { Healthy, Repaired, NotRepaired };
  Verdict verdict = Verdict::Healthy;
  std::string source, target, output;  // paths
  int64_t n_searched = 0, n_parameters_differing = 0;
  bool unseen = true;             // what `before` and `after` are of was not searched on
  std::vector<int64_t> places;    // of the inputs that could be run, among those that were given
  int64_t n_judged = 0;           // inputs that the verdict rests on, layer by layer
  NotJudged not_judged;           // inputs that it does not rest on
  std::vector<Finding> findings;  // of the search, and their repairs
  std::vector<SegmentRepair> repairs;
  std::vector<Edit> edits;           // all that were made
  Apart before, after;               // on the same images
  std::vector<Finding> left;         // what is wrong with the repaired model
  std::optional<OutputNoise> noise;  // of a quantised model in which no layer is wrong any more
  // Values of the target that operators on integers make, and that what was written makes between quantisers.
  std::vector<std::string> between_quantisers;
  std::optional<Certificate> certificate;  // of its writing
  std::optional<bool> ran_out;             // of time, where that was limited
  std::string why_not;
};

// Runs both networks on all inputs, localises on at most 8, half of which show a difference where the outputs do, searches and makes
// the edits, writes the model where there are any, and judges it on all inputs: no label may differ beyond the tolerance of a
// certificate, and no layer be wrong. Labels may differ as rounding lets them where the target is quantised: that is run beside the
// source, and its outputs have to be as near as its quantisers explain. Where nothing is wrong on the 8, the other inputs are localised on too; a target that is healthy on
// all of them is left alone: nothing is written. Throws Usage where the output is of another format than the target, and what
// localising and converting throw.
// Of a deadline, localising may take half and the edits a quarter; what was found by then is written. It is judged in the rest, on as many
// samples as that lets, at least one, and is not repaired where that is not all.
RepairReport repair_model(const RepairRequest& request);

std::string repair_text(const RepairReport& report);
// {"source", "target", "verdict", "repairs", "before", "after", ...} on one line.
std::string repair_json(const RepairReport& report);

}  // namespace dnn
