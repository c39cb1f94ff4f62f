// Network; see network.h.
#include "report/network.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "base/text.h"
#include "report/escape.h"
#include "report/palette.h"

namespace dnn::report {
namespace {

constexpr double kRow = 24, kBox = 18, kWide = 330, kArcs = 90, kGap = 150, kTop = 40;
constexpr double kLeast = -7, kMost = 0;  // powers of ten of the scale of errors
constexpr int kWrong = 1;                 // series of wrong layers
constexpr size_t kLabel = 46;
constexpr double kStrip = 900, kStripEdge = 40, kStripTop = 24, kOverlap = 0.6;  // of the overview

struct Place {
  double y = 0;
  bool placed = false;
};

// Nodes by their names and those of their values.
std::map<std::string, size_t> index_of(const Network& network) {
  std::map<std::string, size_t> index;
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    for (const std::string& output : network.nodes[i].outputs) index.emplace(output, i);
  }
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    if (!network.nodes[i].name.empty()) index.emplace(network.nodes[i].name, i);
  }
  return index;
}

std::optional<size_t> find(const std::map<std::string, size_t>& index, const std::string& value,
                           const std::string& node) {
  if (const auto at = index.find(value); at != index.end()) return at->second;
  if (const auto at = index.find(node); at != index.end()) return at->second;
  return std::nullopt;
}

// The layer and the finding of a node: nullptr where it was not lined up, or is not wrong.
struct Said {
  const Localization::Layer* layer = nullptr;
  const Localization::Finding* finding = nullptr;
};

std::vector<Said> said_of(const Network& network, const Localization* found, bool of_source) {
  std::vector<Said> said(network.nodes.size());
  if (found == nullptr) return said;
  const std::map<std::string, size_t> index = index_of(network);
  for (const Localization::Layer& layer : found->layers) {
    const auto at =
        of_source ? find(index, layer.source_value, layer.name) : find(index, layer.target_value, layer.target_node);
    if (at) said[*at].layer = &layer;
  }
  for (const Localization::Finding& finding : found->findings) {
    const Localization::Where& where = of_source ? finding.source : finding.target;
    for (size_t i = 0; i < std::max(where.nodes.size(), where.values.size()); ++i) {
      const auto at =
          find(index, i < where.values.size() ? where.values[i] : "", i < where.nodes.size() ? where.nodes[i] : "");
      if (at) said[*at].finding = &finding;
    }
  }
  return said;
}

int step_of_error(double error) {
  return error > 0 ? step_of(std::clamp(std::log10(error), kLeast, kMost), kLeast, kMost) : 0;
}

// Rows of both networks, so that layers that are one stand beside each other.
class NetworkPicture {
 public:
  NetworkPicture(const std::vector<Network>& networks, const Localization* found) : networks_(networks), found_(found) {
    for (size_t n = 0; n < networks.size(); ++n) {
      said_.push_back(said_of(networks[n], found, n == 0));
      places_.emplace_back(networks[n].nodes.size());
    }
    line_up();
  }

  Drawing draw() {
    const double column = kArcs + kWide;
    Drawing drawing(networks_.size() * column + (networks_.size() - 1) * kGap + 20, kTop + kRow * n_rows_ + 50);
    for (size_t n = 0; n < networks_.size(); ++n) {
      const double left = n == 0 ? kArcs : column + kGap;
      drawing.label({left, 16}, networks_[n].name, kLabel, Anchor::Start, Ink::Strong);
      draw_edges(n, left, &drawing);
      for (size_t i = 0; i < networks_[n].nodes.size(); ++i) draw_node(n, i, left, &drawing);
    }
    draw_key(kTop + kRow * n_rows_ + 12, &drawing);
    return drawing;
  }

  // The last network as one strip, from input to output, which fits a screen whatever its length.
  Drawing draw_overview() const {
    const std::vector<Said>& said = said_.back();
    const double cell = kStrip / static_cast<double>(std::max<size_t>(said.size(), 1));
    const auto left = [&](size_t i) { return kStripEdge + cell * static_cast<double>(i); };
    Drawing drawing(kStrip + 2 * kStripEdge, kStripTop + 56);
    std::vector<std::vector<PlotPoint>> of_step(kSteps);
    for (size_t i = 0; i < said.size(); ++i) {
      if (said[i].layer != nullptr) of_step[step_of_error(said[i].layer->error)].push_back({left(i), kStripTop + 6});
    }
    for (int k = 0; k < kSteps; ++k) {
      if (!of_step[k].empty()) drawing.squares(of_step[k], cell + kOverlap, 20, k);
    }
    double free = 0;  // where the next label may begin
    for (size_t i = 0; i < said.size(); ++i) {
      if (said[i].finding == nullptr) continue;
      drawing.box({left(i) - 2, kStripTop}, cell + 4, 32, kWrong);
      const double middle = left(i) + cell / 2, half = text_width("WRONG") / 2 + 4;
      if (middle - half < free) continue;
      drawing.text({middle, kStripTop - 8}, "WRONG", Anchor::Middle, Ink::Strong);
      free = middle + half;
    }
    drawing.text({kStripEdge, kStripTop + 50}, "input", Anchor::Start, Ink::Quiet);
    drawing.text({kStripEdge + kStrip, kStripTop + 50}, "output", Anchor::End, Ink::Quiet);
    return drawing;
  }

 private:
  void line_up() {
    size_t row = 0;
    const auto put = [&](size_t n, size_t i) { places_[n][i] = {kTop + kRow * static_cast<double>(row), true}; };
    if (networks_.size() == 1) {
      for (size_t i = 0; i < networks_[0].nodes.size(); ++i, ++row) put(0, i);
      n_rows_ = static_cast<double>(row);
      return;
    }
    std::map<const Localization::Layer*, size_t> of_target;
    for (size_t i = 0; i < said_[1].size(); ++i) {
      if (said_[1][i].layer != nullptr) of_target.emplace(said_[1][i].layer, i);
    }
    const bool by_order = found_ == nullptr;  // nothing says which belong together
    size_t next = 0;                          // of the second network
    const size_t n_other = networks_[1].nodes.size();
    for (size_t i = 0; i < networks_[0].nodes.size(); ++i, ++row) {
      std::optional<size_t> mate;
      if (by_order && next < n_other) mate = next;
      if (const auto at = of_target.find(said_[0][i].layer); said_[0][i].layer != nullptr && at != of_target.end())
        mate = at->second;
      if (mate && *mate >= next) {
        for (; next < *mate; ++next, ++row) put(1, next);
        put(1, next++);
      }
      put(0, i);
    }
    for (; next < n_other; ++next, ++row) put(1, next);
    n_rows_ = static_cast<double>(row);
  }

  void draw_edges(size_t n, double left, Drawing* drawing) const {
    const std::vector<Network::Node>& nodes = networks_[n].nodes;
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (const size_t from : nodes[i].inputs) {
        const double a = places_[n][from].y + kBox, b = places_[n][i].y;
        const bool next = from + 1 == i;
        if (next) {
          drawing->line({left + 20, a}, {left + 20, b}, Ink::Axis);
          continue;
        }
        // A branch goes around the boxes, the further the longer it is.
        const double out = std::min(kArcs - 8, 10 + 4 * std::sqrt(b - a));
        const double side = n == 0 ? left - out : left + kWide + out, edge = n == 0 ? left : left + kWide;
        drawing->line({edge, a - kBox / 2}, {side, a - kBox / 2}, Ink::Axis);
        drawing->line({side, a - kBox / 2}, {side, b + kBox / 2}, Ink::Axis);
        drawing->line({side, b + kBox / 2}, {edge, b + kBox / 2}, Ink::Axis);
      }
    }
  }

  void draw_node(size_t n, size_t i, double left, Drawing* drawing) const {
    const Network::Node& node = networks_[n].nodes[i];
    const Said& said = said_[n][i];
    const double y = places_[n][i].y;
    if (said.finding != nullptr) drawing->box({left - 8, y - 3}, kWide + 16, kBox + 6, kWrong);
    const int step = said.layer == nullptr ? -1 : step_of_error(said.layer->error);
    std::string text = !node.name.empty() ? node.name : node.outputs.empty() ? "" : node.outputs[0];
    if (text.find(node.op) == std::string::npos) text += cat(" (", node.op, ")");
    text = shortened(text, kLabel);
    const double middle = left + kWide / 2;
    if (said.finding != nullptr) {
      drawing->step_text({middle, y + 13}, text, 0);  // black, on the series' colour by light and by dark
    } else if (step < 0) {
      drawing->line({left, y}, {left + kWide, y}, Ink::Axis);
      drawing->line({left, y + kBox}, {left + kWide, y + kBox}, Ink::Axis);
      drawing->text({middle, y + 13}, text, Anchor::Middle);
    } else {
      drawing->squares({{left, y}}, kWide, kBox, step);
      drawing->step_text({middle, y + 13}, text, step);
    }
    if (n == 0 && said.layer != nullptr) {
      const double x = left + kWide + 12;
      if (said.finding != nullptr) drawing->text({x, y + 13}, "WRONG", Anchor::Start, Ink::Strong);
      if (said.layer->error > 0)
        drawing->text({x + 56, y + 13}, number_text(said.layer->error, "%.1e"), Anchor::Start, Ink::Quiet);
    }
  }

  void draw_key(double y, Drawing* drawing) const {
    if (found_ == nullptr) return;
    drawing->text({kArcs, y + 11}, "relative error:", Anchor::Start);
    for (int k = 0; k < kSteps; ++k) drawing->squares({{kArcs + 160 + 24.0 * k, y}}, 24, 14, k);
    drawing->text({kArcs + 160, y + 28}, "1e-07", Anchor::Start, Ink::Quiet);
    drawing->text({kArcs + 160 + 24.0 * kSteps, y + 28}, "1", Anchor::End, Ink::Quiet);
    drawing->box({kArcs + 380, y}, 24, 14, kWrong);
    drawing->text({kArcs + 410, y + 11}, "wrong layer", Anchor::Start);
  }

  const std::vector<Network>& networks_;
  const Localization* found_;
  std::vector<std::vector<Said>> said_;
  std::vector<std::vector<Place>> places_;
  double n_rows_ = 0;
};

// In decibels: 20 log10 of the signal over the error.
std::string sqnr_text(double error) {
  return error > 0 && std::isfinite(error) ? number_text(-20 * std::log10(error), "%.1f") : "-";
}

void put_entry(const std::string& key, const std::string& value, std::string* out) {
  const auto varint = [](size_t n) {
    std::string bytes;
    for (; n >= 128; n >>= 7) bytes += static_cast<char>(n | 128);
    return bytes + static_cast<char>(n);
  };
  const std::string entry = "\x0a" + varint(key.size()) + key + "\x12" + varint(value.size()) + value;
  *out += "\x72" + varint(entry.size()) + entry;  // ModelProto.metadata_props, of StringStringEntryProto
}

}  // namespace

Network network_of(const Graph& graph, const std::string& name) {
  Network network;
  network.name = name;
  std::map<ValueId, size_t> makers;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    Network::Node shown{node.name, node.op, {}, {}};
    for (const ValueId input : node.inputs) {
      const auto maker = makers.find(input);
      if (maker == makers.end()) continue;
      if (std::find(shown.inputs.begin(), shown.inputs.end(), maker->second) == shown.inputs.end())
        shown.inputs.push_back(maker->second);
    }
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      shown.outputs.push_back(graph.value(output).name);
      makers[output] = network.nodes.size();
    }
    network.nodes.push_back(std::move(shown));
  }
  return network;
}

Document network_document(const std::vector<Network>& networks, const Localization* found, const std::string& title) {
  Document document;
  document.title = title;
  Section section{"network-section", networks.size() == 1 ? "The network" : "The networks, lined up", {}, {}};
  std::vector<std::string> sizes;
  for (const Network& network : networks)
    sizes.push_back(cat(network.name, " has ", counted(network.nodes.size(), "node")));
  section.blocks.push_back(Paragraph{join(sizes, "; ") + "."});
  if (found != nullptr) {
    Points points;
    for (const Localization::Finding& finding : found->findings)
      points.items.push_back(
          Line()
              .add("Wrong:", {}, true)
              .add(cat(" ", finding.what, ".", finding.fix.empty() ? "" : cat(" Fix: ", finding.fix, "."))));
    if (points.items.empty()) points.items.push_back(Line("No layer is found to be wrong."));
    section.blocks.push_back(std::move(points));
  }
  NetworkPicture picture(networks, found);
  if (found != nullptr)
    section.blocks.push_back(
        Figure{"overview", cat("All layers of ", networks.back().name),
               "From input to output. Orange: the layer is wrong itself. The darker another is, the more it differs.",
               picture.draw_overview()});
  section.blocks.push_back(Figure{
      "network", networks.size() == 1 ? "The network" : "Source at the left, target at the right",
      "Nodes in their order; lines at the side are branches. A layer is the darker the larger its relative error "
      "(L2), which stands beside it. Wrong layers are orange: they err on the source's own inputs.",
      picture.draw()});
  if (found != nullptr) {
    Table table{"network-layers",
                "Layers that are lined up",
                {{"layer"}, {"op"}, {"error", true}, {"added", true}, {"SQNR dB", true}, {"max abs", true}},
                {}};
    for (const Localization::Layer& layer : found->layers)
      table.rows.push_back({layer.name, layer.op, Cell(number_text(layer.error, "%.2e"), step_of_error(layer.error)),
                            number_text(layer.added, "%.2e"), sqnr_text(layer.error),
                            number_text(layer.max_abs, "%.2e")});
    section.blocks.push_back(Fold{"", "The layers as numbers", {std::move(table)}});
  }
  document.sections.push_back(std::move(section));
  return document;
}

std::string node_data_json(const Network& network, const Localization& found, bool of_source) {
  using Json = nlohmann::ordered_json;
  Json results = Json::object();
  const std::vector<Said> said = said_of(network, &found, of_source);
  for (size_t i = 0; i < said.size(); ++i) {
    const Network::Node& node = network.nodes[i];
    if (node.outputs.empty()) continue;
    if (said[i].layer == nullptr && said[i].finding == nullptr) continue;
    const double error = said[i].layer == nullptr ? 0 : said[i].layer->error;
    const Step& step = steps()[step_of_error(error)];
    const bool wrong = said[i].finding != nullptr;
    results[node.outputs[0]] = {{"value", std::isfinite(error) ? error : static_cast<double>(FLT_MAX)},
                                {"bgColor", wrong ? "#c75000" : step.fill},
                                {"textColor", wrong ? "#ffffff" : step.text}};
  }
  const Json json = {{"results", std::move(results)}};
  return json_text(json, 1) + "\n";
}

std::string onnx_metadata(const Localization& found) {
  std::string out;
  put_entry("dnn-localize",
            found.findings.empty() ? "no layer is found to be wrong"
                                   : cat(found.findings.size(), " wrong, against ", found.source),
            &out);
  for (size_t i = 0; i < found.findings.size(); ++i) {
    const Localization::Finding& finding = found.findings[i];
    put_entry(cat("dnn-localize.", i + 1),
              cat(clean(finding.what), finding.fix.empty() ? "" : "; fix: " + clean(finding.fix)), &out);
  }
  return out;
}

}  // namespace dnn::report
