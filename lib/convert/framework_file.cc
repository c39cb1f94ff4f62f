// What a framework is given to run; see framework_file.h.
#include "convert/framework_file.h"

#include <algorithm>
#include <filesystem>

#include "convert/convert.h"
#include "package/file.h"

namespace dnn {
namespace {

namespace fs = std::filesystem;

// The model under a name that ends as its format's files do: frameworks go by names.
std::string named_for_format(const std::string& path, const Format& format, const std::string& folder) {
  for (const std::string& extension : split(format.extensions, ' ')) {
    if (extension == "/" || ends_with(path, extension)) return path;
  }
  std::string link = cat(folder, "/model", split(format.extensions, ' ')[0]);
  std::error_code failed;
  fs::create_symlink(fs::absolute(path), link, failed);
  if (failed) fail_environment(link, ": cannot be made: ", failed.message());
  return link;
}

}  // namespace

FrameworkFile file_for_framework(const Framework& framework, const std::string& path, const Package& package) {
  if (*framework.formats == 0) {  // a program that loads what it likes
    if (path == "-") fail_usage("exec: a model from standard input cannot be given to a program: name a file");
    return {path, package.info.model_format, ""};
  }
  const std::vector<std::string> loads = split(framework.formats, ' ');
  const std::string& format = package.info.model_format;
  std::error_code ignored;
  const bool is_package =
      path == "-" || (fs::is_regular_file(path, ignored) && looks_like_package(MappedFile(path).bytes()));
  auto folder = std::make_shared<const TemporaryFolder>(fs::temp_directory_path().string());
  if (!is_package && std::find(loads.begin(), loads.end(), format) != loads.end())
    return {named_for_format(path, *find_format(format), folder->path()), format, "", folder};
  const Format& target = *find_format(loads[0]);
  const std::string file = cat(folder->path(), "/model", split(target.extensions, ' ')[0]);
  ConvertOptions options;
  options.certify = false;
  try {
    convert_model(package.source, file, options);
  } catch (Error& error) {
    throw error.within(cat(path, ": lib:", framework.name, " wants it as ", target.name));
  }
  return {file, target.name, format.empty() ? "a package" : format, folder};
}

}  // namespace dnn
