// SPDX-License-Identifier: BSD-3-Clause
// Periodic images of cells: sources behind the cells of a tree, at whole grid units from the cell that they are of.
// Where bodies are not repeated at whole grid units, those of an image are at a rest, half a unit at most along each
// axis, from where they are in the cell; else they are the cell's. Walks begin with images of the root besides the root
// itself; an image's children are made where a walk may open it. Images are no targets: on no level, in no list's rows.
//
// Which images a walk opens, its criterion knows alone. They are opened within a reach first; one that a walk wanted to
// open beyond it is in the list of P2P as if it were a leaf, and `open_wanted` opens it for the next walk.
// Decisions do not depend on which children are there.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "../detail/reduce.hpp"
#include "lists/lists.hpp"
#include "octree.hpp"

namespace fmm::tree {

/// In grid units.
using GridVector = std::array<std::int32_t, 3>;

/// The root at each of these places.
template <class Space>
struct WriteRootImages {
  Array<std::int32_t, Space> shifts;  ///< three for each
  ImageCells<Space> images;
  Array<Cell, Space> cells;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Cell cell = cells(0);
    for (int d = 0; d < 3; ++d) cell.centre[d] += shifts(3 * i + d);
    if (!cell.is_leaf()) cell.child_begin = -1;
    cells(images.begin + i) = cell;
    images.of(i) = 0;
    images.root(i) = int(i);
  }
};

/// Whether a list has an image.
template <class Space>
struct IsWanted {
  Array<int, Space> wanted;  ///< by image
  KOKKOS_FUNCTION bool operator()(Cell const&, std::int64_t image) const {
    return wanted(image) != 0;
  }
};

/// Where the children of images `from` + i will be, behind `count` images; -1 for those that are not opened.
template <class Space, class Opens>
struct NumberImages {
  Opens opens;
  Array<Cell, Space> cells;
  ImageCells<Space> images;
  CellIndex from;
  Array<Offset, Space> first;
  Array<Offset, Space> total;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& before, bool final) const {
    const std::int64_t image = from + i;
    const Cell cell = cells(images.begin + image);
    const bool opened = cell.is_unopened() && opens(cell, image);
    if (final) first(i) = opened ? before : -1;
    if (opened) before += cell.child_count;
    if (final && image + 1 == images.count()) total(0) = before;
  }
};

template <class Space>
struct WriteImages {
  Array<Cell, Space> cells;
  ImageCells<Space> images;
  CellIndex from, count;  ///< the images before the new ones
  Array<Offset, Space> first;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (first(i) < 0) return;
    const CellIndex index = images.begin + from + CellIndex(i);
    const Cell parent = cells(index), original = cells(images.of(from + i));
    const CellIndex to = count + CellIndex(first(i));
    for (int k = 0; k < parent.child_count; ++k) {
      const CellIndex of = original.child_begin + k;
      Cell child = cells(of);
      for (int d = 0; d < 3; ++d) child.centre[d] += parent.centre[d] - original.centre[d];
      child.parent = index;
      if (!child.is_leaf()) child.child_begin = -1;
      cells(images.begin + to + k) = child;
      images.of(to + k) = of;
      images.root(to + k) = images.root(from + i);
    }
    cells(index).child_begin = images.begin + to;
  }
};

/// Makes the children of those images from number `from` on that are to be opened.
template <class Space, class Opens>
void open_images(Space const& space, OctreeBuffers<Space>& buffers, Octree<Space>& tree,
                 CellIndex from, Opens const& opens) {
  auto& images = tree.images;
  const CellIndex count = images.count();
  const auto first = buffers.image_children.resize(count - from);
  const auto total = buffers.totals.resize(1);
  scan<Offset>("fmm::images::number", space, count - from,
               NumberImages<Space, Opens>{opens, tree.cells, images, from, first, total});
  const Offset more = read_back(space, total.data());
  if (more == 0) return;
  const Offset cells = images.begin + count + more;
  if (cells > std::numeric_limits<CellIndex>::max())
    throw OutOfMemory("cells", std::size_t(cells) * sizeof(Cell));
  tree.cells = buffers.cells.grow(space, cells, images.begin + count);
  images.of = buffers.images.grow(space, count + more, count);
  images.root = buffers.image_roots.grow(space, count + more, count);
  for_range("fmm::images::write", space, count - from,
            WriteImages<Space>{tree.cells, images, from, count, first});
}

/// Images of the root at those places, and of the cells below them where walks are likely to open them: within `least`,
/// or as far as walks with these buffers went before. The tree has none yet. Cost: O(images), and a host
/// synchronisation a level.
template <class Space>
void make_images(Space const& space, OctreeBuffers<Space>& buffers, Octree<Space>& tree,
                 std::vector<GridVector> const& places, ImageReach const& least) {
  auto& images = tree.images;
  auto& reach = buffers.image_reach;
  const ImageReach before = reach;
  reach = least;
  for (int level = 0; level <= max_tree_depth; ++level)
    reach.edges[level] = std::fmax(reach.edges[level], before.edges[level]);
  images.begin = tree.own_cells();
  images.roots = CellIndex(places.size());
  images.of = buffers.images.grow(space, places.size(), 0);
  images.root = buffers.image_roots.grow(space, places.size(), 0);
  tree.cells = buffers.cells.grow(space, images.begin + places.size(), images.begin);
  std::vector<std::int32_t> numbers;
  for (GridVector const& place : places) numbers.insert(numbers.end(), place.begin(), place.end());
  const auto shifts = to_device(space, buffers.image_shifts, numbers);
  for_range("fmm::images::roots", space, std::int64_t(places.size()),
            WriteRootImages<Space>{shifts, images, tree.cells});
  for (CellIndex from = 0; from < images.count();) {
    const CellIndex before = images.count();
    open_images(space, buffers, tree, from, reach);
    from = before;
  }
}

/// Keeps the reach within which builds make images: what walks want for its life is theirs alone.
template <class Space>
class KeptReach {
 public:
  explicit KeptReach(OctreeBuffers<Space>& buffers)
      : buffers_(buffers), reach_(buffers.image_reach) {}
  KeptReach(KeptReach const&) = delete;
  ~KeptReach() { buffers_.image_reach = reach_; }

 private:
  OctreeBuffers<Space>& buffers_;
  ImageReach reach_;
};

/// The distances of images, by their level.
struct LargestDistances {
  float of[max_tree_depth + 1] = {};
  KOKKOS_FUNCTION void join(LargestDistances const& other) {
    for (int level = 0; level <= max_tree_depth; ++level)
      if (other.of[level] > of[level]) of[level] = other.of[level];
  }
};
/// Of those that are wanted, the largest ones.
template <class Space>
struct MeasureWanted {
  Array<Cell, Space> cells;
  CellIndex begin;
  Array<int, Space> wanted;
  ImageReach reach;

  KOKKOS_FUNCTION void operator()(std::int64_t i, LargestDistances& largest) const {
    if (wanted(i) == 0) return;
    const Cell cell = cells(begin + i);
    const float distance = reach.distance(cell);
    if (distance > largest.of[cell.level]) largest.of[cell.level] = distance;
  }
};

/// Marks what a walk wanted to open.
template <class Space>
struct MarkWanted {
  Array<Cell, Space> cells;
  CellIndex begin;
  Array<CellIndex, Space> entries;
  Array<int, Space> wanted;  ///< one more for the number of any

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const CellIndex cell = entries(i);
    if (cell < begin || !cells(cell).is_unopened()) return;
    Kokkos::atomic_exchange(&wanted(cell - begin), 1);
    Kokkos::atomic_exchange(&wanted(wanted.extent(0) - 1), 1);
  }
};

/// Opens the images that walks wanted to open for these lists. False if there were none: then the lists are good.
template <class Space>
bool open_wanted(Space const& space, OctreeBuffers<Space>& buffers, Octree<Space>& tree,
                 InteractionLists<Space> const& lists) {
  auto const& images = tree.images;
  if (images.count() == 0) return false;
  const auto wanted = buffers.wanted.resize(images.count() + 1);
  fill(space, wanted, 0);
  for_range("fmm::images::wanted", space, std::int64_t(lists.p2p.entries.extent(0)),
            MarkWanted<Space>{tree.cells, images.begin, lists.p2p.entries, wanted});
  if (read_back(space, wanted.data() + images.count()) == 0) return false;
  auto& reach = buffers.image_reach;
  const auto largest =
      reduce<LargestDistances>("fmm::images::reach", space, images.count(),
                               MeasureWanted<Space>{tree.cells, images.begin, wanted, reach});
  space.fence();
  for (int level = 0; level <= max_tree_depth; ++level)
    reach.edges[level] = std::fmax(reach.edges[level], largest.of[level] * 1.001f);
  open_images(space, buffers, tree, 0, IsWanted<Space>{wanted});
  return true;
}

}  // namespace fmm::tree
