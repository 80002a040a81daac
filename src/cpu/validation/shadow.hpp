// What shader validation remembers of memory: for each piece of it the last write, the last write by an atomic, and the
// last two reads by different threads, enough to see a race with whatever comes next. Pages exist for memory that was
// touched. A piece is a word as long as a page is accessed in whole words, and half of that or a byte once it is not.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace metalloid::cpu::validation {

struct Access {
  uint64_t tick = 0;         // of the validator's clock
  uint32_t threadgroup = 0;  // its number in the grid
  uint32_t thread : 10 = 0;  // its index in the threadgroup
  uint32_t is_there : 1 = 0;
  uint32_t is_atomic : 1 = 0;
  uint32_t is_matrix : 1 = 0;
  uint32_t site : 19 = 0;

  bool is_of_thread_of(const Access& other) const { return threadgroup == other.threadgroup && thread == other.thread; }
};

constexpr uint32_t max_site = (1u << 19) - 1;

struct Cell {
  Access write, atomic_write;
  Access read, other_read;  // the last, and the last of another thread
};

class Shadow {
 public:
  // Calls back with every cell of [address, address + bytes).
  template <class Visit>
  void for_each_cell(uint64_t address, uint64_t bytes, Visit visit) {
    for (const uint64_t end = address + bytes; address < end;) {
      const uint64_t page_end = (address | (page_size - 1)) + 1;
      const uint64_t last = end < page_end ? end : page_end;
      Page& page = page_at(address / page_size);
      if (const unsigned needed = shift_for(address | last); needed < page.shift) page.split(needed);
      const uint64_t step = uint64_t{1} << page.shift;
      for (; address < last; address += step) visit(page.cells[(address & (page_size - 1)) >> page.shift]);
    }
  }

 private:
  static constexpr uint64_t page_size = 1024;
  static constexpr unsigned word_shift = 2;

  struct Page {
    unsigned shift = word_shift;  // of a piece's size
    std::vector<Cell> cells = std::vector<Cell>(page_size >> word_shift);

    void split(unsigned finer);
  };

  // The largest pieces that begin and end where an access does.
  static unsigned shift_for(uint64_t bounds) { return bounds & 1 ? 0 : bounds & 2 ? 1 : 2; }

  Page& page_at(uint64_t number);

  struct Recent {
    uint64_t number = ~uint64_t{0};
    Page* page = nullptr;
  };
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::array<Recent, 64> recent_;
};

}  // namespace metalloid::cpu::validation
