// Preprocessing; see preprocess.h.
#include "image/preprocess.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;

struct NamedRow {
  std::string_view name;
  ResizeMode resize;
  Channels channels;
  float divisor;
  std::array<float, 3> mean, std;
};

constexpr std::array<NamedRow, 4> kNamed = {{
    {"imagenet-torch", ResizeMode::ShortCrop, Channels::Rgb, 255, {0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}},
    {"imagenet-tf", ResizeMode::ShortCrop, Channels::Rgb, 127.5f, {1, 1, 1}, {1, 1, 1}},
    {"imagenet-caffe", ResizeMode::ShortCrop, Channels::Bgr, 1, {103.939f, 116.779f, 123.68f}, {1, 1, 1}},
    {"none", ResizeMode::None, Channels::Rgb, 1, {0, 0, 0}, {1, 1, 1}},
}};

// Enumerators by the names that options and JSON share.
template <class E>
struct Named {
  std::string_view name;
  E value;
};
constexpr std::array<Named<ResizeMode>, 3> kResizeModes = {
    {{"none", ResizeMode::None}, {"crop", ResizeMode::ShortCrop}, {"stretch", ResizeMode::Stretch}}};
constexpr std::array<Named<Channels>, 3> kChannels = {
    {{"rgb", Channels::Rgb}, {"bgr", Channels::Bgr}, {"grey", Channels::Grey}}};
constexpr std::array<Named<Layout>, 2> kLayouts = {{{"nchw", Layout::Nchw}, {"nhwc", Layout::Nhwc}}};
constexpr std::array<Named<Grey16>, 2> kGrey16s = {{{"clip", Grey16::Clip}, {"high-byte", Grey16::HighByte}}};
constexpr std::array<Named<PassOrder>, 2> kPassOrders = {
    {{"pillow13", PassOrder::Pillow13}, {"pillow12", PassOrder::Pillow12}}};

template <class Rows>
auto value_of(const Rows& rows, std::string_view name, std::string_view what) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) {
    if (row.name == name) return row.value;
    names.push_back(row.name);
  }
  fail_usage(what, " '", name, "' is none of ", join(names));
}

template <class Rows, class E>
std::string name_of(const Rows& rows, E value) {
  for (const auto& row : rows) {
    if (row.value == value) return std::string(row.name);
  }
  fail_internal("a value without a name");
}

int short_side_of(int height, int width) {
  const int64_t side = std::max(height, width);
  return static_cast<int>((16 * side + 7) / 14);  // side / 0.875, rounded
}

float parse_number(std::string_view text, std::string_view what) {
  double value = 0;
  if (!parse_double(text, &value) || !std::isfinite(value)) fail_usage(what, ": '", text, "' is not a number");
  return static_cast<float>(value);
}

std::array<float, 3> parse_three(std::string_view text, std::string_view what) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 1 && parts.size() != 3) fail_usage(what, ": one number or three are wanted, not ", parts.size());
  std::array<float, 3> values{};
  for (size_t i = 0; i < 3; ++i) values[i] = parse_number(parts[parts.size() == 1 ? 0 : i], what);
  return values;
}

void check_preprocess(const Preprocess& p) {
  if (p.divisor == 0) fail_usage("the scale divides by 0");
  for (float std : p.std) {
    if (std == 0) fail_usage("a std of 0");
  }
  const auto varies = [](const std::array<float, 3>& v) { return v[0] != v[1] || v[0] != v[2]; };
  if (p.channels == Channels::Grey && (varies(p.mean) || varies(p.std)))
    fail_usage("a grey image has one channel: one mean and one std are wanted");
  if (p.resize == ResizeMode::None ? p.height < 0 || p.width < 0 : p.height <= 0 || p.width <= 0) {
    fail_usage("an input of ", p.height, "x", p.width, " pixels");
  }
  if (p.height != 0 && p.width > kMaxImagePixels / p.height) {
    fail_usage("an input of ", p.height, "x", p.width, " pixels; the limit is ", kMaxImagePixels, " pixels");
  }
  if (p.resize == ResizeMode::ShortCrop && p.short_side < std::max(p.height, p.width)) {
    fail_usage("a short side of ", p.short_side, " pixels is less than the crop of ", p.height, "x", p.width);
  }
}

// Pillow's "L" of RGB (Convert.c, L24), in all three channels, so that a resize treats it as it would one.
Image grey(const Image& image) {
  Image result = image;
  for (size_t i = 0; i + 2 < result.rgb.size(); i += 3) {
    uint8_t* pixel = result.rgb.data() + i;
    const uint32_t sum = pixel[0] * 19595U + pixel[1] * 38470U + pixel[2] * 7471U + 0x8000U;
    std::fill_n(pixel, 3, static_cast<uint8_t>(sum >> 16));
  }
  return result;
}

// A JSON number as an int or a float; one that would not fit is malformed.
int whole(const Json& json, const char* key) {
  const Json& value = json.at(key);
  const auto number = value.is_number_integer() ? value.get<int64_t>() : -1;  // uint64_t's upper half is negative, too
  if (number < 0 || number > std::numeric_limits<int>::max())
    fail_malformed("preprocessing: '", key, "' is no number of pixels");
  return static_cast<int>(number);
}
float finite(const Json& value, const char* key) {
  const auto number = value.get<double>();
  if (std::abs(number) > std::numeric_limits<float>::max()) fail_malformed("preprocessing: '", key, "' is no float32");
  return static_cast<float>(number);
}

// A JSON number that prints as the shortest decimal of the float and reads back to it.
double as_double(float value) {
  double result = 0;
  if (!parse_double(exact_text(value), &result)) fail_internal("a float that does not read back");
  return result;
}

}  // namespace

Shape Preprocess::shape() const {
  return layout == Layout::Nchw ? Shape{1, n_channels(), height, width} : Shape{1, height, width, n_channels()};
}

std::vector<std::string_view> preprocess_names() {
  std::vector<std::string_view> names;
  for (const NamedRow& row : kNamed) names.push_back(row.name);
  return names;
}

Preprocess without_arithmetic(const Preprocess& preprocess) {
  Preprocess bytes = preprocess;
  bytes.scale = bytes.divisor = 1;
  bytes.mean = {0, 0, 0};
  bytes.std = {1, 1, 1};
  return bytes;
}

Preprocess named_preprocess(std::string_view name, int height, int width, Layout layout) {
  for (const NamedRow& row : kNamed) {
    if (row.name != name) continue;
    Preprocess p;
    p.name = name;
    p.resize = row.resize;
    p.height = height;
    p.width = width;
    if (p.resize == ResizeMode::ShortCrop) p.short_side = short_side_of(height, width);
    p.channels = row.channels;
    p.layout = layout;
    p.divisor = row.divisor;
    p.mean = row.mean;
    p.std = row.std;
    check_preprocess(p);
    return p;
  }
  fail_usage("preprocessing '", name, "' is none of ", join(preprocess_names()));
}

bool PreprocessOptions::any() const {
  return !(resize + filter + scale + mean + std + channels + layout + pass_order + grey16).empty();
}

void apply_options(const PreprocessOptions& options, Preprocess* preprocess) {
  Preprocess p = *preprocess;
  if (!options.resize.empty()) {
    const std::vector<std::string> parts = split(options.resize, ':');
    p.resize = value_of(kResizeModes, parts[0], "resize");
    p.short_side = p.resize == ResizeMode::ShortCrop ? short_side_of(p.height, p.width) : 0;
    if (parts.size() > 1) {
      int64_t side = 0;
      if (parts.size() > 2 || p.resize != ResizeMode::ShortCrop || !parse_int(parts[1], &side) || side < 1 ||
          side > kMaxImagePixels) {
        fail_usage("resize: '", options.resize, "' is not of the form crop:SIDE");
      }
      p.short_side = static_cast<int>(side);
    }
  }
  if (!options.filter.empty()) p.filter = filter_from_name(options.filter);
  if (!options.scale.empty()) {
    const std::vector<std::string> parts = split(options.scale, '/');
    if (parts.size() > 2) fail_usage("scale: '", options.scale, "' is not of the form A or A/B");
    p.scale = parse_number(parts[0], "scale");
    p.divisor = parts.size() == 2 ? parse_number(parts[1], "scale") : 1.0f;
  }
  if (!options.mean.empty()) p.mean = parse_three(options.mean, "mean");
  if (!options.std.empty()) p.std = parse_three(options.std, "std");
  if (!options.channels.empty()) p.channels = value_of(kChannels, options.channels, "channels");
  if (!options.layout.empty()) p.layout = value_of(kLayouts, options.layout, "layout");
  if (!options.grey16.empty()) p.grey16 = value_of(kGrey16s, options.grey16, "way with 16-bit grey");
  if (!options.pass_order.empty()) p.pass_order = value_of(kPassOrders, options.pass_order, "pass order");
  if (!(p == *preprocess)) {
    const Layout layout = p.layout;
    p.layout = preprocess->layout;
    if (!(p == *preprocess)) p.name = "custom";  // the layout follows the model and is no part of the name
    p.layout = layout;
  }
  check_preprocess(p);
  *preprocess = p;
}

std::string to_json(const Preprocess& p) {
  const auto three = [](const std::array<float, 3>& v) {
    return Json{as_double(v[0]), as_double(v[1]), as_double(v[2])};
  };
  Json json;
  json["name"] = p.name;
  json["resize"] = name_of(kResizeModes, p.resize);
  json["short_side"] = p.short_side;
  json["height"] = p.height;
  json["width"] = p.width;
  json["filter"] = filter_name(p.filter);
  json["pass_order"] = name_of(kPassOrders, p.pass_order);
  json["apply_orientation"] = p.apply_orientation;
  if (p.grey16 != Grey16::Clip) json["grey16"] = name_of(kGrey16s, p.grey16);  // in the streams of those who ask for it
  json["channels"] = name_of(kChannels, p.channels);
  json["layout"] = name_of(kLayouts, p.layout);
  json["dtype"] = "float32";
  json["scale"] = as_double(p.scale);
  json["divisor"] = as_double(p.divisor);
  json["mean"] = three(p.mean);
  json["std"] = three(p.std);
  return json_text(json);
}

namespace {

// An object of a few numbers and names, as models' metadata and streams hold it.
Json parsed(std::string_view text) {
  constexpr size_t kMost = size_t{1} << 16;
  Json json = text.size() > kMost ? Json(Json::value_t::discarded) : parse_ordered_json(text);
  if (json.is_discarded()) fail_malformed("preprocessing: not JSON of a preprocessing");
  return json;
}

}  // namespace

Preprocess preprocess_from_json(std::string_view text, const Preprocess& base) {
  try {
    Json whole = parsed(to_json(base));
    whole.update(parsed(text));
    return preprocess_from_json(json_text(whole));
  } catch (const nlohmann::json::exception& e) {
    fail_malformed("preprocessing: ", e.what());
  }
}

Preprocess preprocess_from_json(std::string_view text) {
  try {
    const Json json = parsed(text);
    Preprocess p;
    p.name = json.at("name").get<std::string>();
    p.resize = value_of(kResizeModes, json.at("resize").get<std::string>(), "resize");
    p.short_side = whole(json, "short_side");
    p.height = whole(json, "height");
    p.width = whole(json, "width");
    p.filter = filter_from_name(json.at("filter").get<std::string>());
    p.pass_order = value_of(kPassOrders, json.at("pass_order").get<std::string>(), "pass_order");
    p.apply_orientation = json.at("apply_orientation").get<bool>();
    if (json.contains("grey16")) p.grey16 = value_of(kGrey16s, json.at("grey16").get<std::string>(), "grey16");
    p.channels = value_of(kChannels, json.at("channels").get<std::string>(), "channels");
    p.layout = value_of(kLayouts, json.at("layout").get<std::string>(), "layout");
    if (const auto dtype = json.at("dtype").get<std::string>(); dtype != "float32") {
      fail_unsupported("preprocessing to ", dtype);
    }
    p.scale = finite(json.at("scale"), "scale");
    p.divisor = finite(json.at("divisor"), "divisor");
    for (size_t i = 0; i < 3; ++i) {
      p.mean[i] = finite(json.at("mean").at(i), "mean");
      p.std[i] = finite(json.at("std").at(i), "std");
    }
    check_preprocess(p);
    return p;
  } catch (const nlohmann::json::exception& e) {
    fail_malformed("preprocessing: ", e.what());
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Usage) throw;
    fail_malformed("preprocessing: ", e.what());
  }
}

ImageRegion fit_reads(ImageSize from, const Preprocess& p) {
  if (p.resize == ResizeMode::ShortCrop) {
    try {
      const ImageSize whole = short_side_size(from, p.short_side);
      return resize_reads(from, whole, centre_region(whole, {p.width, p.height}), p.filter);
    } catch (const Error&) {  // for fit() to say
    }
  }
  return {0, 0, from.width, from.height};
}

namespace {

// That an image of that size needs no resizing.
void check_size(ImageSize from, const Preprocess& p) {
  if ((p.height == 0 && p.width == 0) || from == ImageSize{p.width, p.height}) return;
  fail_usage("the image has ", from.width, "x", from.height, " pixels, the input ", p.width, "x", p.height,
             ", and the preprocessing '", p.name, "' does not resize");
}

}  // namespace

Image fit(const Image& given, const Preprocess& p) {
  const bool is_grey = p.channels == Channels::Grey;
  const Image one = is_grey ? grey(given) : Image{};
  const Image& image = is_grey ? one : given;
  const ImageSize from{image.width, image.height};
  const ImageSize wanted{p.width, p.height};
  switch (p.resize) {
    case ResizeMode::None: check_size(from, p); return image;
    case ResizeMode::Stretch: return resize(image, wanted, p.filter, p.pass_order);
    case ResizeMode::ShortCrop: {
      const ImageSize whole = short_side_size(from, p.short_side);
      return resize(image, whole, centre_region(whole, wanted), p.filter, p.pass_order);
    }
  }
  fail_internal("an unknown resize mode");
}

void to_tensor(const Image& image, const Preprocess& p, std::span<float> out) {
  const bool as_it_is = p.resize == ResizeMode::None && p.channels != Channels::Grey;
  const Image fitted = as_it_is ? Image{} : fit(image, p);
  const Image& source = as_it_is ? image : fitted;
  if (as_it_is && p.height != 0) check_size({image.width, image.height}, p);
  const size_t n_channels = p.n_channels();
  if (out.size() != source.rgb.size() / 3 * n_channels) {
    fail_internal("an image of ", source.rgb.size() / 3, " pixels into a slot of ", out.size());
  }
  // A byte has 256 values, so the arithmetic is done once for each.
  std::array<std::array<float, 256>, 3> table;
  for (size_t c = 0; c < 3; ++c) {
    for (size_t v = 0; v < 256; ++v) {
      const float scaled = static_cast<float>(v) * p.scale / p.divisor;
      table[c][v] = (scaled - p.mean[c]) / p.std[c];
    }
  }
  const size_t n_pixels = source.rgb.size() / 3;
  const uint8_t* rgb = source.rgb.data();
  const bool planar = p.layout == Layout::Nchw;
  const auto part_of = [&](size_t c) { return p.channels == Channels::Bgr ? 2 - c : c; };
  const auto place_of = [&](size_t c) { return out.data() + (planar ? c * n_pixels : c); };
  const size_t step = planar ? 1 : n_channels;
  if (n_channels == 1) {
    for (size_t i = 0; i < n_pixels; ++i) out[i] = table[0][rgb[3 * i]];
    return;
  }
  float *a = place_of(0), *b = place_of(1), *c = place_of(2);
  const uint8_t *from_a = rgb + part_of(0), *from_b = rgb + part_of(1), *from_c = rgb + part_of(2);
  for (size_t i = 0; i < n_pixels; ++i) {
    a[i * step] = table[0][from_a[3 * i]];
    b[i * step] = table[1][from_b[3 * i]];
    c[i * step] = table[2][from_c[3 * i]];
  }
}

Tensor to_tensor(const Image& image, const Preprocess& preprocess) {
  Preprocess p = preprocess;
  if (p.resize == ResizeMode::None && p.height == 0) {
    p.height = image.height;
    p.width = image.width;
  }
  Tensor tensor(DType::Float32, p.shape());
  to_tensor(image, p, {tensor.mutable_data<float>(), static_cast<size_t>(tensor.size())});
  return tensor;
}

}  // namespace dnn
