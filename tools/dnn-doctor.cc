// dnn-doctor: shows what of this machine the tools use, and what a person should do.
#include <iostream>

#include "base/printable.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "infer/doctor.h"
#include "train/mpi_link.h"

namespace dnn::tools::dnn_doctor {

const cli::Tool kTool = {
    .name = "dnn-doctor",
    .summary =
        "Shows the compiler, devices, frameworks, MPI, key, caches and sandbox that the tools find here. A line each, "
        "tab-separated: ok, absent (nothing is wrong with that) or act, the subject, and what is there or to be done.",
    .negative = "there is something to do",
    .examples = {{"dnn-doctor", "before a first run"}, {"dnn-doctor | grep ^act", "what to do"}}};

struct Options {};

MachineFact mpi() {
  try {
    return {MachineFact::State::Ok, "MPI", train::find_mpi()};
  } catch (const Error& error) {
    return {MachineFact::State::Absent, "MPI", error.what()};
  }
}

void declare(cli::Args&, Options&) {}

int work(const Options&) {
  OpenOptions open;
  use_folders(&open, cli::variable);
  DeviceOptions device;
  device.variable = cli::variable;
  bool act = false;
  std::vector<MachineFact> findings = examine(open, device);
  findings.push_back(mpi());
  for (const MachineFact& finding : findings) {
    std::cout << state_name(finding.state) << '\t' << clean(finding.subject) << '\t' << clean(finding.text) << '\n';
    act = act || finding.state == MachineFact::State::Act;
  }
  return act ? 1 : 0;
}

cli::Program program() { return cli::program(kTool, declare, work); }

}  // namespace dnn::tools::dnn_doctor
