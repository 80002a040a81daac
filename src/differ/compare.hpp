// Two engines on the same kernel: what differs in what they leave behind. Integers are equal bit for bit; floats are
// close, relative to what is above 1 (element.hpp says how close for each type); NaN is NaN.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "differ/run.hpp"

namespace metalloid::differ {

struct Difference {
  Engine engine;
  std::string launch;  // empty: there is no pipeline
  std::string what;    // a sentence
};

std::string to_text(const Difference& difference);

// How `remains` differ from those of the reference; nothing if they do not.
std::optional<std::string> difference_between(const KernelCase& kernel, const Remains& reference,
                                              const Remains& remains);

// The vector engine at the width that it chooses, and at each that can be forced.
std::vector<Engine> vector_engines();

// Source that stands for another engine, to see that differences are found.
using Disguise = std::function<std::string(std::string)>;

// Runs the kernel on the reference engine and on each of these, on all its grids, with guards on either side. An engine
// gets the first difference only. An error says that the reference itself could not run it.
Result<std::vector<Difference>> differences(const KernelCase& kernel, const std::vector<Engine>& engines,
                                            const Disguise& disguise = {});

// The same with a library that was compiled already.
Result<std::vector<Difference>> differences(const KernelCase& kernel, std::shared_ptr<const Library> library,
                                            const std::vector<Engine>& engines);

}  // namespace metalloid::differ
