// The version of metal-cpp whose interface these headers have.
#pragma once

#define METALCPP_VERSION_MAJOR 370
#define METALCPP_VERSION_MINOR 63
#define METALCPP_VERSION_PATCH 1

#define METALCPP_SUPPORTS_VERSION(major, minor, patch)                    \
  ((major) != METALCPP_VERSION_MAJOR   ? (major) < METALCPP_VERSION_MAJOR \
   : (minor) != METALCPP_VERSION_MINOR ? (minor) < METALCPP_VERSION_MINOR \
                                       : (patch) <= METALCPP_VERSION_PATCH)
