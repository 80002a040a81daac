#include "cpu/validation/report.hpp"

#include <fmt/format.h>

#include <utility>

#include "cpu/grid.hpp"
#include "cpu/pipeline.hpp"

namespace metalloid::cpu::validation {

namespace {

const char* name_of(Mistake mistake) {
  switch (mistake) {
    case Mistake::out_of_bounds:
      return "out-of-bounds access";
    case Mistake::unbound:
      return "access to a null buffer";
    case Mistake::misaligned:
      return "misaligned access";
    case Mistake::uninitialised:
      return "read of uninitialised memory";
    case Mistake::race:
      return "data race";
    case Mistake::barrier:
      return "barrier that not all threads reach";
    case Mistake::endless:
      return "endless execution";
  }
  return "mistake";
}

std::string text(device::Size position) {
  return fmt::format("({}, {}, {})", position.x, position.y, position.z);
}

}  // namespace

void ReportLimit::submission_ended(const LogFunction& log) const {
  if (left_out_ == 0) return;
  device::Log rest;
  rest.kind = device::Log::Kind::validation;
  rest.message = fmt::format("shader validation: {} more reports were left out", left_out_);
  log(rest);
}

bool Reporter::wants(Mistake mistake, const Site& site, const Site* other_site) {
  auto place = [](const Site* at) { return at ? Place(at->file, at->line, at->column) : Place(); };
  auto first = place(&site), second = place(other_site);
  if (mistake == Mistake::race && second < first) std::swap(first, second);  // it has no direction
  return made_.emplace(mistake, first, second).second && limit_.take();
}

void Reporter::add(const Report& report) const {
  device::Log log;
  log.kind = device::Log::Kind::validation;
  log.level = 4;
  log.kernel = grid_.pipeline->name;
  log.encoder_label = grid_.encoder_label ? grid_.encoder_label : "";
  log.location = {report.site->file, report.site->line, report.site->column};
  log.message = fmt::format("{}: {} in kernel \"{}\": {}\n{}  hint: {}", place(*report.site), name_of(report.mistake),
                            log.kernel, report.what, report.details, report.hint);
  (*grid_.log)(log);
}

std::string Reporter::thread(uint64_t threadgroup, uint32_t index) const {
  const device::Size& size = grid_.threads_per_threadgroup;
  const device::Size group = position_of(threadgroup, grid_.threadgroups_per_grid);
  const device::Size threads = threads_of(group, size, grid_.threads_per_grid);
  const device::Size inside = position_of(index, threads);
  const device::Size in_grid = {group.x * size.x + inside.x, group.y * size.y + inside.y, group.z * size.z + inside.z};
  return fmt::format("thread {} of threadgroup {}, {} in the grid", text(inside), text(group), text(in_grid));
}

std::string Reporter::place(const Site& site) {
  if (!*site.file) return "<unknown place>";
  return site.column ? fmt::format("{}:{}:{}", site.file, site.line, site.column)
                     : fmt::format("{}:{}", site.file, site.line);
}

}  // namespace metalloid::cpu::validation
