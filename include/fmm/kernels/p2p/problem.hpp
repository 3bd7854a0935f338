// SPDX-License-Identifier: BSD-3-Clause
// The contract between the tile kernel of P2P (tile_sums.hpp) and a problem that it sums: which targets a
// tile has, where the tile's sources are, and what becomes of the sums. Problems are ListedSources
// (listed_sources.hpp), of a tree, and AllSources (all_sources.hpp), of bodies without one.
//
// The contract is the comment on the concept P2PProblem. Before it comes what kernel and problem hand to
// each other: scratch memory for a walk through the sources, and the chunks that sources are loaded in.
#pragma once

#include <concepts>
#include <type_traits>

#include "../../detail/launch.hpp"
#include "../../precision.hpp"
#include "../../tuning.hpp"
#include "pairs.hpp"

namespace fmm::kernels {

/// Bodies of one source cell, and the way from its coordinates to those of the targets' leaf.
template <class Real>
struct SourceRun {
  BodyIndex begin;
  int count;
  Real ratio, shift[3];  ///< x in the leaf's edges is ratio * x + shift
  Real reach;  ///< coordinates of bodies close to the targets' leaf are smaller; 0: none are close
};

/// A source so close to the targets' leaf that differences are wanted from two parts.
struct CloseSource {
  BodyIndex body;
  CellIndex cell;
};

/// What a walk through the sources keeps in scratch memory.
template <class Real>
struct WalkMemory {
  SourceRun<Real>* run;        ///< Problem::runs of them, for the problem alone
  int* close_count = nullptr;  ///< of the sources in `close`; both for problems that note such
  CloseSource* close = nullptr;
  int* again = nullptr;  ///< threads with totals that are not finite, if they may add again
  int* left = nullptr;   ///< not 0: the tile has close sources, and is left to another launch
};

/// The types that kernel and problem hand to each other.
template <class Space, class Problem>
struct ProblemTypes {
  using Precision = typename Problem::precision;
  using Strengths = typename Problem::strengths;
  using Out = typename Problem::outputs;
  static_assert(Strengths::densities == Out::densities,
                "fmm: sources' strengths and targets' outputs are of as many densities");
  using Real = real_t<Precision>;
  using Sum = sum_t<Precision>;
  using V = Lanes<Space, Real>;
  static constexpr bool two_part = two_part_v<Precision>;
  /// Whether close sources are noted, and added with the own ones; others are in one part then.
  static constexpr bool notes_close = Problem::close_room > 0;
  static constexpr bool main_two_part = two_part && !notes_close;
  using MainChunk = Chunk<V, Problem::shape.chunk, main_two_part, Strengths::numbers>;
  using OwnChunk =
      Chunk<V, Problem::shape.chunk / (notes_close ? 2 : 1), two_part, Strengths::numbers>;
  using MainPlace = Place<Real, main_two_part>;
  using OwnPlace = Place<Real, two_part>;
  using Memory = WalkMemory<Real>;
};

/// What a problem says of itself once for all tiles.
template <class Problem>
concept DescribesProblem = std::copy_constructible<Problem> && requires {
  typename Problem::precision;
  typename Problem::kernel;
  typename Problem::strengths;
  typename Problem::outputs;
  typename Problem::Frame;
  typename Problem::Cursor;
  { Problem::shape } -> std::convertible_to<P2PShape>;
  { Problem::long_sums } -> std::convertible_to<bool>;
  { Problem::runs } -> std::convertible_to<int>;
  { Problem::close_room } -> std::convertible_to<int>;
};

/// Whether all sources count as own ones, and none come from `load`; if a problem says nothing, some do.
template <class Problem>
inline constexpr bool only_own_v = false;
template <class Problem>
  requires requires { Problem::only_own; }
inline constexpr bool only_own_v<Problem> = Problem::only_own;

/// Whether tiles with close sources are left to another launch; if a problem says nothing, none are.
template <class Problem>
inline constexpr bool leaves_tiles_v = false;
template <class Problem>
  requires requires { Problem::leaves_tiles; }
inline constexpr bool leaves_tiles_v<Problem> = Problem::leaves_tiles;

/// What the kernel reads of a tile.
template <class Frame, class Kernel, class Real>
concept TileFrame = std::is_trivially_copyable_v<Frame> && requires(Frame const frame) {
  { frame.count } -> std::convertible_to<int>;
  { frame.pair } -> std::same_as<Kernel const&>;
  { frame.potential_unit } -> std::convertible_to<Real>;
  { frame.field_unit } -> std::convertible_to<Real>;
};

/// A problem of P2P, for the space whose teams sum it. With Real and Sum for real_t and sum_t of its precision:
///
///   precision            float, double, Mixed, MixedInOnePart, DoubleInTwoParts, or one that leaves close pairs to one
///   kernel               type of the pair kernel
///   strengths, outputs   what a source carries and a target receives (kernels/strengths.hpp)
///   shape                P2PShape: the team, and what it has at a time
///   long_sums            whether targets have so many sources that totals are of Sum, and a chunk's sums are added to
///                        them at a time; else totals are of Real
///   short_sums           optional, a member: whether totals that are handed on are so after each chunk (MixedSums)
///   leaves_tiles         optional: whether tiles with close sources are left to another launch, that of a problem in
///                        two parts. leave(tile, left) is told which are; `load` sets *memory.left where it meets such
///                        a source, and an own one is close if r^2 and the kernel's softening^2 are below close2(frame)
///   takes(tile)          optional: whether this launch sums the tile
///   runs                 SourceRuns that the problem wants in memory.run; the kernel does not touch them
///   close_room           0; or, of a problem with coordinates in two parts whose sources are loaded in one:
///                        CloseSources in memory.close, shape.chunk at least
///
///   Frame                a tile, trivially copyable. All its coordinates are counted from one origin in one unit:
///     count              targets, 1 .. shape.tile
///     pair               the pair kernel for lengths in that unit
///     potential_unit, field_unit   what totals are multiplied by before they are stored
///   frame(tile)          of tile number `tile` of the launch
///   target(frame, i, place)   coordinates of target i < count. Sources that are loaded in one part have targets in one
///                        part, Place<Real, false>, the high ones of Place<Real, true>
///
///   Cursor               a place in the walk through the tile's sources without the own ones (below)
///   begin(frame)         the first place
///   load(team, frame, cursor, memory, chunk)   fills the chunk with the next sources, from its first place on, moves
///                        the cursor on, and returns how many places are filled; 0 once there are no more. Such a
///                        source may be at a target's point, but is never the target itself. With close_room, sources
///                        that may be at a target's point or want two parts are noted (memory.close,
///                        memory.close_count), shape.chunk in a call at most, and leave a gap in the chunk
///
///   own_count(frame)     the own sources: those among which the targets themselves may be. 0 if the targets are
///                        another set of bodies than the sources, or if another tile has the pairs
///   own_index(frame, i)  the number of target i among the own sources, 0 .. own_count - 1, which alone says what is
///                        left out of its sum; -1 if it is not among them
///   load_own(team, frame, memory, noted, begin, chunk)   fills the chunk with own sources from number `begin` on and,
///                        after the last of them, the `noted` ones as numbers own_count .. own_count + noted - 1, in
///                        an order that does not depend on which thread noted which; returns how many these are. It is
///                        called where own_count + noted > begin only
///
///   store(frame, i, k, sums)   takes what was summed for target i, record k: sets it, or adds it to what is there.
///                        With close_room and threads that share targets it is called several times for a target and
///                        has to add
///
/// The threads of a team call load and load_own together with the same arguments, and share the work; both return the
/// same to all. The kernel has barriers before and after. All else is called by a thread alone, for the same i
/// again and by several threads; `store` only by the one thread that owns the target. All members are device code.
template <class Problem, class Space, class Types = ProblemTypes<Space, Problem>>
concept P2PProblem = DescribesProblem<Problem> &&
    TileFrame<typename Problem::Frame, typename Problem::kernel, typename Types::Real> &&
    requires(Problem const problem, typename Problem::Frame const frame,
             typename Problem::Cursor cursor, TeamMember<Space> const& team,
             typename Types::Memory const memory, typename Types::MainChunk const chunk,
             typename Types::OwnChunk const own_chunk, typename Types::MainPlace place,
             typename Types::OwnPlace own_place, int number, Sums<typename Types::Sum> const sums) {
  { problem.frame(number) } -> std::same_as<typename Problem::Frame>;
  { problem.target(frame, number, place) } -> std::same_as<void>;
  { problem.target(frame, number, own_place) } -> std::same_as<void>;
  { problem.begin(frame) } -> std::same_as<typename Problem::Cursor>;
  { problem.load(team, frame, cursor, memory, chunk) } -> std::same_as<int>;
  { problem.own_count(frame) } -> std::same_as<int>;
  { problem.own_index(frame, number) } -> std::same_as<int>;
  { problem.load_own(team, frame, memory, number, number, own_chunk) } -> std::same_as<int>;
  { problem.store(frame, number, number, sums) } -> std::same_as<void>;
};

}  // namespace fmm::kernels
