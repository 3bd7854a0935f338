// SPDX-License-Identifier: BSD-3-Clause
// The problem of a batch of P2P: all pairs of bodies within each of many sets.
#pragma once

#include "all_sources.hpp"

namespace fmm::kernels {

/// A tile is of the set that its `cell` says. Sets follow one another in `bodies`.
template <class Space, class Kernel, class Precision, P2PShape Shape, class Out, class Strengths>
struct BatchSources : AllSources<Space, Kernel, Precision, Shape, Out, true, Strengths> {
  using Base = AllSources<Space, Kernel, Precision, Shape, Out, true, Strengths>;
  using typename Base::AnyChunk;
  using typename Base::Cursor;
  using typename Base::Real;
  struct Frame : Base::Frame {
    BodyIndex set_begin, set_end;
  };

  Array<BodyIndex, Space> offsets;  ///< where each set begins, and the end of the last one

  KOKKOS_FUNCTION Frame frame(int index) const {
    const CellIndex set = this->tiles(index).cell;
    return {Base::frame(index), offsets(set), offsets(set + 1)};
  }
  KOKKOS_FUNCTION Cursor begin(Frame const& f) const { return {f.set_begin}; }
  KOKKOS_FUNCTION int load(TeamMember<Space> const& team, Frame const& f, Cursor& at,
                           WalkMemory<Real> const&, AnyChunk chunk) const {
    return this->load_until(f.set_end, team, f, at, chunk);
  }
};

}  // namespace fmm::kernels
