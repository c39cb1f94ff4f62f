// Flipped samples: what runs listed for each sample on which comparable ones disagree.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>

#include "report/axes.h"
#include "report/escape.h"
#include "report/sections/sections.h"

namespace dnn::report {
namespace {

constexpr size_t kMostLists = 6;    // cards of a sample
constexpr size_t kMostNamed = 400;  // samples beyond those that are shown, by name
constexpr size_t kMostFlipPairs = 60, kMostLinks = 40;
constexpr size_t kFewPairedRuns = 12;  // beyond, the table of pairs is of runs of one model
constexpr size_t kNamedRuns = 6;       // of a card; beyond, letters

// A sample with its disagreements.
struct Flip {
  size_t sample = 0;
  size_t n_within = 0;  // pairs of runs of one model that disagree: what a conversion or compilation changed
  size_t n_pairs = 0;   // pairs of runs that disagree
};

int64_t best(const TopList& list) { return list.entries[0].label; }

Flip flip_of(const Data& data, size_t sample_i) {
  Flip flip{sample_i, 0, 0};
  const std::vector<TopList>& lists = data.samples[sample_i].lists;
  // Runs by best label: in all, and of each model.
  std::map<std::string, std::map<int64_t, size_t>> all, models;
  for (const TopList& list : lists) {
    all[list.classes][best(list)] += list.runs.size();
    for (const uint32_t run : list.runs) ++models[list.classes + "\n" + data.runs[run].model][best(list)];
  }
  const auto differing = [](const auto& groups) {
    size_t pairs = 0;
    for (const auto& [key, counts] : groups) {
      size_t total = 0, same = 0;
      for (const auto& [label, n] : counts) {
        total += n;
        same += n * n;
      }
      pairs += (total * total - same) / 2;
    }
    return pairs;
  };
  flip.n_pairs = differing(all);
  flip.n_within = differing(models);
  return flip;
}

std::string runs_text(const Data& data, const std::vector<uint32_t>& runs) {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kNamedRuns, runs.size()); ++i) names.push_back(data.runs[runs[i]].full());
  std::string text = join(names, "; ");
  if (runs.size() > kNamedRuns) {
    const std::vector<uint32_t> rest(runs.begin() + kNamedRuns, runs.end());
    text += cat("; and ", letters(data, rest));
  }
  return text;
}

// One card for each best label first, those of most runs first, then the other lists.
std::vector<const TopList*> lists_shown(const SampleLists& sample) {
  std::vector<const TopList*> lists;
  for (const TopList& list : sample.lists) lists.push_back(&list);
  std::stable_sort(lists.begin(), lists.end(), [](auto* a, auto* b) { return a->runs.size() > b->runs.size(); });
  std::set<std::pair<std::string, int64_t>> seen;
  std::vector<const TopList*> first, more;
  for (const TopList* list : lists) (seen.emplace(list->classes, best(*list)).second ? first : more).push_back(list);
  first.insert(first.end(), more.begin(), more.end());
  if (first.size() > kMostLists) first.resize(kMostLists);
  return first;
}

Cards cards_of(const Data& data, const SampleLists& sample) {
  Cards cards;
  for (const TopList* list : lists_shown(sample)) {
    Cards::Card card;
    card.heading = Line().add(data.class_name(list->classes, best(*list)), {}, true);
    if (list->truth) card.heading.add(*list->truth == best(*list) ? " (right)" : " (wrong)");
    for (const TopList::Entry& entry : list->entries)
      card.items.push_back(cat(data.class_name(list->classes, entry.label), " ", short_number(entry.score)));
    std::string foot;
    if (list->entries.size() > 1 && std::isfinite(list->entries[0].score - list->entries[1].score))
      foot = cat("margin ", short_number(list->entries[0].score - list->entries[1].score), "; ");
    card.foot = cat(foot, counted(list->runs.size(), "run"), ": ", runs_text(data, list->runs));
    cards.cards.push_back(std::move(card));
  }
  return cards;
}

// The sample's name and what it was taken for, by how many runs.
Line summary_of(const Data& data, const SampleLists& sample) {
  constexpr size_t kMost = 3;
  std::map<std::pair<std::string, int64_t>, size_t> counts;
  for (const TopList& list : sample.lists) counts[{list.classes, best(list)}] += list.runs.size();
  std::vector<std::pair<size_t, std::string>> order;
  for (const auto& [label, n] : counts) order.emplace_back(n, data.class_name(label.first, label.second));
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Line line = Line().add(sample.path).add(":");
  for (size_t i = 0; i < std::min(kMost, order.size()); ++i)
    line.add(i == 0 ? " " : ", ").add(order[i].second).add(cat(" (", counted(order[i].first, "run"), ")"));
  if (order.size() > kMost) line.add(cat(" and ", counted(order.size() - kMost, "other label")));
  return line;
}

size_t size_of(const Cards& cards) {
  size_t n = 0;
  for (const Cards::Card& card : cards.cards) {
    n += 200 + card.heading.plain().size() + card.foot.plain().size();
    for (const std::string& item : card.items) n += 20 + item.size();
  }
  return n;
}

std::string id_of(size_t number) { return cat("sample-", number + 1); }

// Which samples flip between the two runs of a pair: how many, and the first of them.
struct PairFlips {
  size_t base = 0, other = 0;
  size_t n = 0;
  std::vector<uint32_t> first;  // of the list of flips, at most kMostLinks
};

// Of pairs of one model where there are many runs; those with most flips first.
std::vector<PairFlips> flips_by_pair(const Data& data, const std::vector<Flip>& flips) {
  const size_t n_runs = data.runs.size();
  std::vector<PairFlips> pairs(n_runs * n_runs);  // as many as the evaluation holds, twice
  for (size_t f = 0; f < flips.size(); ++f) {
    const std::vector<TopList>& lists = data.samples[flips[f].sample].lists;
    for (size_t a = 0; a < lists.size(); ++a) {
      for (size_t b = a + 1; b < lists.size(); ++b) {
        if (lists[a].classes != lists[b].classes || best(lists[a]) == best(lists[b])) continue;
        for (const uint32_t x : lists[a].runs) {
          for (const uint32_t y : lists[b].runs) {
            if (n_runs > kFewPairedRuns && data.runs[x].model != data.runs[y].model) continue;
            PairFlips& pair = pairs[std::min(x, y) * n_runs + std::max(x, y)];
            ++pair.n;
            if (pair.first.size() < kMostLinks) pair.first.push_back(static_cast<uint32_t>(f));
          }
        }
      }
    }
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].base = i / n_runs;
    pairs[i].other = i % n_runs;
  }
  std::erase_if(pairs, [](const PairFlips& pair) { return pair.n == 0; });
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.n > b.n; });
  return pairs;
}

Table pairs_table(const Data& data, const std::vector<PairFlips>& pairs, size_t n_shown,
                  const std::vector<Flip>& flips) {
  Table table{
      "flips-pairs", "Flipped samples by pair of runs, most first", {{"pair"}, {"samples", true}, {"which"}}, {}};
  for (size_t i = 0; i < std::min(kMostFlipPairs, pairs.size()); ++i) {
    const PairFlips& pair = pairs[i];
    Line which;
    for (size_t k = 0; k < pair.first.size(); ++k) {
      const size_t f = pair.first[k];
      const std::string& path = data.samples[flips[f].sample].path;
      if (k > 0) which.add(", ");
      which.add(shortened(path.substr(path.rfind('/') + 1), 24), f < n_shown ? id_of(f) : "");
    }
    if (pair.n > pair.first.size()) which.add(cat(" and ", pair.n - pair.first.size(), " more"));
    table.rows.push_back(
        {cat(data.runs[pair.other].full(), " against ", data.runs[pair.base].full()), cat(pair.n), std::move(which)});
  }
  return table;
}

// Those whose runs of one model disagree come first.
std::vector<Flip> flips_in_order(const Data& data) {
  std::vector<Flip> flips;
  for (size_t i = 0; i < data.samples.size(); ++i) {
    if (const Flip flip = flip_of(data, i); flip.n_pairs > 0) flips.push_back(flip);
  }
  std::stable_sort(flips.begin(), flips.end(), [](const Flip& a, const Flip& b) {
    return a.n_within != b.n_within ? a.n_within > b.n_within : a.n_pairs > b.n_pairs;
  });
  return flips;
}

// What there is to say without a flip: nothing if no two runs can be compared.
Blocks without_flips(const Data& data) {
  const bool comparable = std::any_of(data.evaluation.pairs.begin(), data.evaluation.pairs.end(),
                                      [](const auto& pair) { return pair.values.contains("top1_agreement"); });
  if (!comparable) return {};
  return {Paragraph{"There is none: on every common sample, all comparable runs have the same best label."}};
}

Paragraph introduction(const Data& data, const std::vector<Flip>& flips) {
  const auto within =
      static_cast<size_t>(std::count_if(flips.begin(), flips.end(), [](const Flip& f) { return f.n_within > 0; }));
  return {cat("On ", flips.size(), " of ", counted(data.samples.size(), "sample"),
              ", some comparable runs have different best labels; on ", within == 0 ? "none" : cat(within),
              " of these, runs of one and the same model do", within == 0 ? "" : ", and they stand first",
              ". Each list is of the runs below it, its scores are the first one's; the margin is how far the best is "
              "ahead.")};
}

Paragraph note_on_pictures(const Options& options) {
  const std::filesystem::path root = options.image_root.empty() ? "." : options.image_root;
  std::error_code ignored;
  const std::string name = std::filesystem::canonical(root, ignored).filename().string();
  return {cat("Pictures are only of files below the folder ", name.empty() ? "/" : name,
              options.image_root.empty() ? ", where the report was made" : "",
              " (--images); whatever else a stream names is not opened."),
          true};
}

// A fold for each of the first samples, as many as the report has room for, and counts of what they lack.
struct ShownFlips {
  Blocks samples;
  size_t n_cut = 0;           // samples with more lists than cards
  size_t n_unread = 0;        // whose image cannot be read
  size_t n_without_room = 0;  // without a thumbnail for want of room
  size_t picture_bytes = 0;
};

// Adds a thumbnail where options and room allow one.
void add_picture(const SampleLists& sample, const Options& options, ShownFlips* shown, Blocks* inside) {
  if (!options.thumbnails) return;
  if (shown->picture_bytes >= options.picture_bytes) {
    ++shown->n_without_room;
  } else if (std::optional<Picture> picture = thumbnail(sample, options)) {
    shown->picture_bytes += picture->png.size() * 4 / 3;
    inside->push_back(std::move(*picture));
  } else {
    ++shown->n_unread;
  }
}

ShownFlips show_flips(const Data& data, const Options& options, const std::vector<Flip>& flips) {
  ShownFlips shown;
  size_t list_bytes = 0;
  for (size_t i = 0; i < flips.size(); ++i) {
    const SampleLists& sample = data.samples[flips[i].sample];
    Cards cards = cards_of(data, sample);
    list_bytes += 400 + size_of(cards);
    if (list_bytes > options.list_bytes && i > 0) break;
    Blocks inside;
    add_picture(sample, options, &shown, &inside);
    Line facts =
        cat(counted(flips[i].n_pairs, "pair"), " of runs differ, ", flips[i].n_within, " of them of one model.");
    if (const TopList& list = sample.lists[0]; list.truth)
      facts.add(cat(" Truth: ", data.class_name(list.classes, *list.truth), "."));
    inside.push_back(Paragraph{std::move(facts)});
    if (sample.lists.size() > cards.cards.size()) {
      ++shown.n_cut;
      inside.push_back(Paragraph{cat(sample.lists.size() - cards.cards.size(), " further lists are left out."), true});
    }
    inside.push_back(std::move(cards));
    shown.samples.push_back(Fold{id_of(i), summary_of(data, sample), std::move(inside)});
  }
  return shown;
}

Blocks pairs_blocks(const Data& data, const std::vector<Flip>& flips, size_t n_shown) {
  const std::vector<PairFlips> pairs = flips_by_pair(data, flips);
  if (pairs.empty()) return {};
  Blocks blocks;
  if (data.runs.size() > kFewPairedRuns || pairs.size() > kMostFlipPairs)
    blocks.push_back(
        Paragraph{cat("The table holds ", std::min(kMostFlipPairs, pairs.size()), " of ", counted(pairs.size(), "pair"),
                      data.runs.size() > kFewPairedRuns ? " of runs of one model" : " of runs",
                      " with flipped samples; dnn-eval --disagreements lists all."),
                  true});
  blocks.push_back(pairs_table(data, pairs, n_shown, flips));
  return blocks;
}

std::vector<std::string> left_out_of(const ShownFlips& shown, size_t n_flips) {
  const size_t n_named = n_flips - shown.samples.size();
  std::vector<std::string> left_out;
  if (shown.n_unread > 0)
    left_out.push_back(
        cat("thumbnails of ", counted(shown.n_unread, "sample"), " whose image could not be read below that folder"));
  if (shown.n_without_room > 0)
    left_out.push_back(cat("thumbnails of ", counted(shown.n_without_room, "sample"), ", to keep the report small"));
  if (shown.n_cut > 0) left_out.push_back(cat("lists beyond ", kMostLists, " of ", counted(shown.n_cut, "sample")));
  if (n_named > 0)
    left_out.push_back(cat("lists of ", counted(n_named, "sample"), " named at the end, to keep the report small"));
  return left_out;
}

Fold names_of_others(const Data& data, const std::vector<Flip>& flips, size_t n_shown) {
  std::vector<std::string> names;
  for (size_t f = n_shown; f < std::min(flips.size(), n_shown + kMostNamed); ++f)
    names.push_back(data.samples[flips[f].sample].path);
  const size_t beyond = flips.size() - n_shown - names.size();
  return {"",
          cat("Flipped as well: ", counted(flips.size() - n_shown, "sample")),
          {Paragraph{cat(join(names), beyond > 0 ? cat(" and ", beyond, " more") : "", ".")}}};
}

void append(Blocks more, Blocks* blocks) { std::move(more.begin(), more.end(), std::back_inserter(*blocks)); }

}  // namespace

Blocks section_flips(const Data& data, const Options& options) {
  if (data.runs.size() < 2) return {};
  const std::vector<Flip> flips = flips_in_order(data);
  if (flips.empty()) return without_flips(data);
  Blocks blocks;
  blocks.push_back(introduction(data, flips));
  if (options.thumbnails) blocks.push_back(note_on_pictures(options));
  ShownFlips shown = show_flips(data, options, flips);
  const size_t n_shown = shown.samples.size();
  append(pairs_blocks(data, flips, n_shown), &blocks);
  if (const std::vector<std::string> left_out = left_out_of(shown, flips.size()); !left_out.empty())
    blocks.push_back(Paragraph{cat("Left out: ", join(left_out, "; "), "."), true});
  append(std::move(shown.samples), &blocks);
  if (n_shown < flips.size()) blocks.push_back(names_of_others(data, flips, n_shown));
  return blocks;
}

}  // namespace dnn::report
