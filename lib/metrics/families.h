// Families: the run that the others are held against, the runs that predict the same, and which tests are corrected together.
#pragma once
#include <string>
#include <vector>

#include "metrics/evaluation.h"

namespace dnn::metrics {

// Fills Report::baseline and Report::own_run. Of each model one run is held against the baseline, the others against that
// one: so a wrong conversion and a wrong level are two findings. `text` names the baseline: its letter,
// its title ("net.onnx -O0 cpu") or its model's path or file name, the first of several. A model's run is its plainest: a
// framework's own, else the reference's, else the lowest level. "auto" takes the plainest run of the first model; "" takes
// the first run as baseline, and the first of each model. Throws Usage where no run has that name.
inline constexpr std::string_view kPlainest = "auto";
void choose_baselines(Report* report, const std::string& text);

// The run that this one is held against; the baseline is held against itself.
size_t held_against(const Report& report, size_t run);

// The pair of two different runs; of a report whose pairs are all there.
const PairReport& pair_of(const Report& report, size_t a, size_t b);

// Report::alike, by the pairs; `n_samples` are the different samples of each run.
std::vector<size_t> runs_alike(const Report& report, const std::vector<size_t>& n_samples);

// Beside each p-value that has a row for it, Holm's correction within its family. Models against the baseline are one family,
// runs against their model's run another, since these are asked; all other pairs are a third. What compares the same
// predictions is one test of labels, however many runs give them: copies are no further chance to be wrong.
void correct_for_many_tests(Report* report);

}  // namespace dnn::metrics
