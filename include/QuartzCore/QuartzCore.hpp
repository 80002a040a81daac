// metal-cpp's way onto a screen. Programs that only compute include it out of habit; that is all it is for here: there
// is no screen, and CA::MetalLayer is not declared.
#pragma once

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
