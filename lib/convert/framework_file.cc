// What a framework is given to run; see framework_file.h.
#include "convert/framework_file.h"

#include <algorithm>
#include <filesystem>
#include <optional>

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

using Folder = std::shared_ptr<const TemporaryFolder>;

// The user's own file, where the framework loads its format.
std::optional<FrameworkFile> own_file(const Framework& framework, const std::string& path, const Package& package,
                                      const Folder& folder) {
  const std::string& format = package.info.model_format;
  if (*framework.formats == 0) {  // a program that loads what it likes
    if (path == "-") fail_usage("exec: a model from standard input cannot be given to a program: name a file");
    return FrameworkFile{path, format, ""};
  }
  const std::vector<std::string> loads = split(framework.formats, ' ');
  std::error_code ignored;
  const bool is_package =
      path == "-" || (fs::is_regular_file(path, ignored) && looks_like_package(MappedFile(path).bytes()));
  if (is_package || std::find(loads.begin(), loads.end(), format) == loads.end()) return std::nullopt;
  return FrameworkFile{named_for_format(path, *find_format(format), folder->path()), format, "", folder};
}

// The format that models are converted to for it.
const Format& preferred(const Framework& framework) { return *find_format(split(framework.formats, ' ')[0]); }

FrameworkFile converted(const Framework& framework, const std::string& path, const Package& package,
                        const Folder& folder) {
  const Format& target = preferred(framework);
  const std::string file = cat(folder->path(), "/converted", split(target.extensions, ' ')[0]);
  ConvertOptions options;
  options.certify = false;
  try {
    convert_model(package.source, file, options);
  } catch (Error& error) {
    throw error.within(cat(path, ": lib:", framework.name, " wants it as ", target.name));
  }
  const std::string& format = package.info.model_format;
  return {file, target.name, format.empty() ? "a package" : format, folder};
}

}  // namespace

FrameworkSession open_in_framework(const Framework& framework, const std::string& device, const std::string& path,
                                   const std::shared_ptr<const Package>& package, DeviceOptions options,
                                   const std::function<void(const std::string&)>& warn) {
  const auto folder = std::make_shared<const TemporaryFolder>(fs::temp_directory_path().string());
  const auto open = [&](const FrameworkFile& file) {
    options.model_file = file.path;
    options.model_format = file.format;
    return FrameworkSession{file, open_session(device, package, options)};
  };
  if (const std::optional<FrameworkFile> own = own_file(framework, path, *package, folder)) {
    try {
      return open(*own);
    } catch (const Error& refused) {
      if (refused.kind() != ErrorKind::Unsupported || *framework.formats == 0 ||
          own->format == preferred(framework).name)
        throw;
      warn(cat(path, " is refused and so converted to ", preferred(framework).name, ": ", refused.what()));
    }
  }
  return open(converted(framework, path, *package, folder));
}

}  // namespace dnn
