// SPDX-License-Identifier: BSD-3-Clause
// What a call that is refused says.
#pragma once

#include <gtest/gtest.h>

#include <fmm/errors.hpp>
#include <string>

namespace fmm_test {

/// What a call throws, in words.
template <class Call>
std::string refusal(Call const& call) {
  try {
    call();
  } catch (fmm::InvalidArgument const& e) {
    return e.what();
  }
  return "nothing";
}

/// The call is refused with words that these are a part of.
template <class Call>
void expect_refused(Call const& call, std::string const& words) {
  const std::string said = refusal(call);
  EXPECT_NE(said.find(words), std::string::npos) << said;
}

}  // namespace fmm_test
