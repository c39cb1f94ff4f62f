// Reading runs; see read_runs.h.
#include "report/read_runs.h"

#include "base/file.h"
#include "metrics/present.h"
#include "report/legacy.h"
#include "report/paths.h"
#include "stream/stream.h"

namespace dnn::report {

std::optional<Error> read_runs(const std::string& path, const std::function<void(stream::Record)>& take,
                               const std::function<void(const std::string& json)>& other) {
  PeekSource source(open_source(path));
  if (const std::optional<std::string> json = json_of(source)) {
    try {
      if (!is_measurements(*json)) {
        other(*json);
        return std::nullopt;
      }
      for (stream::Record& record : records_of_measurements(*json, source_name(path))) take(std::move(record));
    } catch (Error& e) {
      throw e.within(source_name(path));
    }
    return std::nullopt;
  }
  stream::Reader reader(source, source_name(path));
  try {
    while (std::optional<stream::Record> record = reader.next()) take(std::move(*record));
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Malformed) return e;
    throw;
  }
  return reader.truncated() ? std::optional(reader.truncation()) : std::nullopt;
}

Data gather(const std::vector<std::string>& paths, const GatherOptions& options, std::vector<Error>* cut_off) {
  Collector collector(options.full_paths);
  collector.set_baseline(options.baseline);
  std::vector<Localization> localizations;
  std::vector<Branched> branched;
  std::vector<std::string> warnings;
  const auto take = [&](stream::Record record) { collector.add(std::move(record)); };
  const auto take_json = [&](const std::string& json) {
    if (!is_branched(json)) {
      localizations.push_back(parse_localization(json));
      return;
    }
    for (Branched& network : parse_branched(json)) branched.push_back(std::move(network));
  };
  for (const std::string& path : paths) {
    std::optional<Error> error = read_runs(path, take, take_json);
    if (!error) continue;
    warnings.push_back(cat("Incomplete: ", options.full_paths ? error->what() : with_base_names(error->what())));
    cut_off->push_back(std::move(*error));
  }
  Data data = collector.finish();
  if (!options.full_paths) {
    for (Localization& found : localizations) use_base_names(&found);
    for (Branched& network : branched) use_base_names(&network);
  }
  data.localizations = std::move(localizations);
  data.branched = std::move(branched);
  for (std::string& note : metrics::shard_notes(data.evaluation)) warnings.push_back("Incomplete: " + std::move(note));
  data.warnings = std::move(warnings);
  return data;
}

}  // namespace dnn::report
