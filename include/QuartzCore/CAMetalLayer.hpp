// Part of <QuartzCore/QuartzCore.hpp>, under the name that it has in metal-cpp.
#pragma once

#include <QuartzCore/QuartzCore.hpp>
