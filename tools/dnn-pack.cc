// dnn-pack: puts the images of a data set into one file, which dnn-train and dnn-infer read like the folder.
#include "base/counted.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "image/pack_write.h"

namespace dnn::tools::dnn_pack {

const cli::Tool kTool = {
    .name = "dnn-pack",
    .summary =
        "Packs a folder of images, one folder a class, into one indexed file. dnn-train --data, dnn-infer and other "
        "tools "
        "read FILE.dnnd as they read FOLDER: the same images in the same order, each checked against its SHA-256. "
        "Without options the bytes of each image stay as they are.",
    .negative = "",
    .examples = {{"dnn-pack flowers/ -o flowers.dnnd", "the images as they are"},
                 {"dnn-pack train/ -o train.dnnd --max-side 500 --jpeg 0.5 --quality 90",
                  "at most 500 pixels a side, half of them as pixels, which cost no decoding"}}};

struct Options {
  std::string folder, output;
  PackOptions pack;
};

void declare(cli::Args& args, Options& o) {
  args.positional(&o.folder, "FOLDER", "images: a folder for each class");
  args.option(&o.output, "-o,--output", "FILE", "where the pack goes: FILE.dnnd");
  args.option(&o.pack.max_side, "--max-side", "N", "scale images with a longer side down to N pixels; 0: none", 0);
  args.option(&o.pack.jpeg_share, "--jpeg", "SHARE",
              "store this share of the images as JPEG and the others as pixels, e.g. 0.5", 0);
  args.option(&o.pack.quality, "--quality", "N", "quality of JPEG that is made, 1 to 100", 1);
  args.flag(&o.pack.apply_orientation, "--exif", "turn images that are stored anew as their EXIF orientation says");
  args.flag(&o.pack.skip_broken, "--skip-broken", "leave out images that cannot be read");
  args.flag(&o.pack.resume, "--resume", "go on with FILE.partial, where it is there");
  args.seed(&o.pack.seed);
  args.threads(&o.pack.threads);
}

int work(const Options& o) {
  if (o.output.empty() || o.output == "-") fail_usage("where to? give a file with -o");
  if (o.pack.quality > 100) fail_usage("--quality ", o.pack.quality, ": choose from 1 to 100");
  if (o.pack.jpeg_share && *o.pack.jpeg_share > 1) fail_usage("--jpeg ", *o.pack.jpeg_share, ": choose from 0 to 1");
  PackOptions options = o.pack;
  options.warn = cli::warn;
  cli::Progress progress("images", 0);
  options.progress = [&](int64_t n) { progress.advance(n); };
  const PackSummary summary = write_pack(o.folder, o.output, options);
  std::string line = cat(o.output, ": ", counted(summary.images, "image"), " of ", summary.classes,
                         summary.classes == 1 ? " class" : " classes", ", ", summary.size_bytes, " bytes");
  if (summary.resumed > 0) line += cat("; ", summary.resumed, " were there");
  if (summary.stored_anew > 0) line += cat("; ", summary.stored_anew, " stored anew");
  if (summary.skipped > 0) line += cat("; ", summary.skipped, " left out");
  if (!cli::console().quiet) cli::say(line);
  return 0;
}

cli::Program program() { return cli::program(kTool, declare, work); }

}  // namespace dnn::tools::dnn_pack
