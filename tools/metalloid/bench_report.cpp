#include "bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "program.hpp"

namespace metalloid::tool {

namespace {

constexpr std::string_view names[] = {"metalloid", "opencl", "openmp", "openblas", "machine"};
constexpr std::string_view titles[] = {"Metalloid", "OpenCL", "OpenMP C++", "OpenBLAS", "the machine"};

std::string_view title(Contender contender) {
  return titles[static_cast<size_t>(contender)];
}

bool has_time(const Result& result) {
  return result.milliseconds > 0;
}

// Three digits, however large the number.
std::string number(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  if (value >= 10) return fmt::format("{:.1f}", value);
  if (value >= 1) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3f}", value);
}

std::string cell(const Result& result, double value) {
  if (!result.present) return "-";
  return has_time(result) ? number(value) : "wrong";
}

// How many times faster Metalloid is.
std::optional<double> speedup(const ContestResult& contest, Contender over) {
  const Result &ours = contest.of(Contender::metal), &theirs = contest.of(over);
  if (!has_time(ours) || !has_time(theirs)) return std::nullopt;
  return ours.rate / theirs.rate;
}

// An OpenCL platform goes on to say how it was built.
std::string short_name(const std::string& name) {
  const size_t end = std::min(name.find("  "), name.find(", "));
  return end < name.size() && name.find('(') < end ? name.substr(0, end) + ")" : name;
}

std::string times(std::optional<double> ratio) {
  return ratio ? number(*ratio) + "x" : "-";
}

}  // namespace

void print_entrants(const Entrants& entrants) {
  for (Contender contender : contenders) {
    if (contender == Contender::machine) continue;  // the program that runs the loops
    const Entrant& entrant = entrants[static_cast<size_t>(contender)];
    fmt::print("{:<11} {}\n", title(contender), entrant.runner ? entrant.name : "- " + entrant.why_not);
  }
}

void print_table(std::span<const ContestResult> contests) {
  fmt::print("\n{:<18} {:<18} {:>10} {:>10} {:>10}   {:>10} {:<8}   {:>9} {:>9}\n", "", "", "Metalloid", "OpenCL",
             "OpenMP", "Metalloid", "", "over", "over");
  fmt::print("{:<18} {:<18} {:>10} {:>10} {:>10}   {:>10} {:<8}   {:>9} {:>9}\n", "kernel", "size", "ms", "ms", "ms",
             "", "", "OpenCL", "OpenMP");
  for (const ContestResult& contest : contests) {
    const Result &metal = contest.of(Contender::metal), &opencl = contest.of(Contender::opencl),
                 &openmp = contest.of(Contender::openmp);
    fmt::print("{:<18} {:<18} {:>10} {:>10} {:>10}   {:>10} {:<8}   {:>9} {:>9}\n", contest.name, contest.size,
               cell(metal, metal.milliseconds), cell(opencl, opencl.milliseconds), cell(openmp, openmp.milliseconds),
               cell(metal, metal.rate), contest.unit, times(speedup(contest, Contender::opencl)),
               times(speedup(contest, Contender::openmp)));
  }
}

void print_limits(std::span<const ContestResult> contests) {
  for (const ContestResult& contest : contests)
    for (Contender contender : {Contender::openblas, Contender::machine}) {
      const Result& result = contest.of(contender);
      if (!has_time(result)) continue;
      const bool copies = contest.unit == "GB/s";
      const std::string what = contender == Contender::openblas ? "OpenBLAS"
                               : copies                         ? "copying memory"
                                                                : "multiply-adds";
      fmt::print("\n{} reaches {} of {}: {} {}", contest.name, times(speedup(contest, contender)), what,
                 number(result.rate), contest.unit);
    }
  fmt::print("\n");
}

nlohmann::json to_json(const Report& report) {
  nlohmann::json json;
  for (Contender contender : contenders) {
    const Entrant& entrant = report.entrants[static_cast<size_t>(contender)];
    json["contenders"][names[static_cast<size_t>(contender)]] =
        entrant.runner ? nlohmann::json{{"version", entrant.name}} : nlohmann::json{{"missing", entrant.why_not}};
  }
  json["kernels"] = nlohmann::json::array();
  for (const ContestResult& contest : report.contests) {
    nlohmann::json row = {{"name", contest.name}, {"size", contest.size}, {"unit", contest.unit}};
    for (Contender contender : contenders) {
      const Result& result = contest.of(contender);
      if (!result.present) continue;
      row[names[static_cast<size_t>(contender)]] = has_time(result)
                                                       ? nlohmann::json{{"milliseconds", result.milliseconds},
                                                                        {"fastest_milliseconds", result.fastest},
                                                                        {"rate", result.rate}}
                                                       : nlohmann::json{{"failure", result.failure}};
    }
    json["kernels"].push_back(std::move(row));
  }
  return json;
}

// Speeds relative to OpenCL; where that has no time, to OpenBLAS or the loops.
plot::BarChart to_chart(const Report& report) {
  const bool has_opencl = report.entrants[static_cast<size_t>(Contender::opencl)].runner != nullptr;
  const Contender base = has_opencl ? Contender::opencl : Contender::openmp;
  plot::BarChart chart;
  chart.title = "Metal kernels on the CPU";
  const Entrant& metal = report.entrants[static_cast<size_t>(Contender::metal)];
  const Entrant& peer = report.entrants[static_cast<size_t>(base)];
  chart.subtitle = fmt::format("{}, beside {}", metal.name, short_name(peer.name));
  chart.axis = fmt::format("speed relative to {} (logarithmic; to the right is faster)", title(base));
  chart.series = {"Metalloid (Metal)", "OpenMP C++, -O3"};
  for (const ContestResult& contest : report.contests) {
    Contender other = base;
    for (Contender substitute : {Contender::openblas, Contender::openmp})
      if (!has_time(contest.of(other))) other = substitute;
    const Result& reference = contest.of(other);
    if (!has_time(reference)) continue;
    plot::BarChart::Group group{contest.name, contest.size, {}};
    if (other != base) group.detail = fmt::format("{}, relative to {}", contest.size, title(other));
    for (Contender contender : {Contender::metal, Contender::openmp}) {
      const Result& result = contest.of(contender);
      group.values.push_back(has_time(result) ? std::optional(result.rate / reference.rate) : std::nullopt);
    }
    chart.groups.push_back(std::move(group));
  }
  return chart;
}

plot::ImageFormat image_format(const std::string& file) {
  if (file.ends_with(".svg")) return plot::ImageFormat::svg;
  if (file.ends_with(".png")) return plot::ImageFormat::png;
  throw Failure{exit_usage_error, fmt::format("'{}' is neither .svg nor .png", file)};
}

}  // namespace metalloid::tool
