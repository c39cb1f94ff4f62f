// Reports of hostile streams and of hostile JSON: only Malformed and Unsupported may escape, and a page never holds what it escapes.
#include <cstdlib>

#include "fuzz/fuzz.h"
#include "report/page_script.h"
#include "report/report.h"
#include "stream/stream.h"

DNN_FUZZ(report) {
  using namespace dnn;
  report::Data all;
  const Bytes input = dnn::fuzz::as_input(data, size);
  return dnn::fuzz::refuse_or_accept([&] {
    if (size > 0 && data[0] == '{' && report::is_branched(std::string(as_text(input)))) {
      all.branched = report::parse_branched(std::string(as_text(input)));
    } else if (size > 0 && data[0] == '{') {
      all.localizations.push_back(report::parse_localization(std::string(as_text(input))));
    } else {
      MemorySource source(input);
      stream::Reader reader(source, "fuzz");
      report::Collector collector;
      try {
        while (std::optional<stream::Record> record = reader.next()) collector.add(std::move(*record));
      } catch (const Error& error) {
        all.warnings.emplace_back(error.what());
      }
      std::vector<std::string> warnings = std::move(all.warnings);
      all = collector.finish();
      all.warnings = std::move(warnings);
    }
    report::Options options;
    options.thumbnails = false;
    const report::Document document = report::make_document(all, options);
    // The page's own script stands at its end, word for word; there is no other.
    const std::string page = report::html(document), own = cat("<script>", report::page_script(), "</script>");
    const size_t at = page.find("<script");
    if (at == std::string::npos || page.compare(at, own.size(), own) != 0) std::abort();
    if (page.find("<script", at + 1) != std::string::npos || !is_utf8(page)) std::abort();
    if (!is_utf8(report::rst(document, "", "x").text) || !is_utf8(report::markdown(document, "", "x").text))
      std::abort();
  });
}
