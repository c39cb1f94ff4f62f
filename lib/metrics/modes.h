// Modes: whether a series of times is of one kind or of two, as when a thread is now on a fast core and now on a slow one.
#pragma once
#include <optional>
#include <span>

#include "metrics/quantiles.h"

namespace dnn::metrics {

// Hartigan's dip: how far the values' distribution is from the nearest that rises to one mode and falls from there, as the largest
// difference of the two distribution functions (Hartigan, Hartigan: The dip test of unimodality, Ann. Stat. 1985); 0 to 0.25.
// The values ascend.
double dip(std::span<const Counted> values);

struct Modes {
  double low = 0, high = 0;  // medians of the two parts
  double high_share = 0;     // of all values
};

// The two modes of positive values, which ascend and are `n` independent measurements; nullopt where nothing shows more than one.
// Three things are asked of their logarithms: the dip is one that less than 1 % of samples from any one mode reach; cut where the
// variance between the parts is greatest (Otsu, IEEE Trans. SMC 1979; the outer twentieths count as their ends), each part has a
// tenth, their medians are 10 % apart; and Ashman's D is above 4 (Ashman, Bird, Zepf, Astron. J. 1994: 2 parts components
// that were fitted; a cut through one mode has 2.7 if it is normal, 3.5 if it is flat).
std::optional<Modes> two_modes(std::span<const Counted> values, double n);

}  // namespace dnn::metrics
