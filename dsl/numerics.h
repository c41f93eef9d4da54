// What a contract lets a schedule do to the sums of an algorithm.
#pragma once

#include <string>
#include <string_view>

#include "dsl/algorithm.h"
#include "dsl/directive.h"
#include "dsl/loop_nest.h"

namespace kiln {

// strict: none; fixed_tree: partial_sums, whose order the schedule fixes; bounded: any_order; free: approximates.
NumericsEffect most_allowed(Contract contract);

// Notes that the directive has this effect on its definition, and refuses it when the contract allows less, which the nest notes too. Only floats round: on other types
// nothing is noted. `doing`: what it does, as in "it keeps several partial sums of 'k'"; `instead`: what the contract would allow.
std::string claim_effect(Subject& subject, NumericsEffect effect, const std::string& doing, const std::string& instead);

}  // namespace kiln
