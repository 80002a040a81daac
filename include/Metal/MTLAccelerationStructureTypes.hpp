// The small packed vectors and boxes that acceleration structures are described with.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

struct PackedFloat3 {
  PackedFloat3() : PackedFloat3(0.0f, 0.0f, 0.0f) {}
  PackedFloat3(float x, float y, float z) : x(x), y(y), z(z) {}

  float& operator[](int idx) { return elements[idx]; }
  float operator[](int idx) const { return elements[idx]; }

  union {
    struct {
      float x;
      float y;
      float z;
    };
    float elements[3];
  };
};

struct PackedFloat4x3 {
  PackedFloat4x3() = default;
  PackedFloat4x3(const PackedFloat3& col0, const PackedFloat3& col1, const PackedFloat3& col2, const PackedFloat3& col3)
      : columns{col0, col1, col2, col3} {}

  PackedFloat3& operator[](int idx) { return columns[idx]; }
  const PackedFloat3& operator[](int idx) const { return columns[idx]; }

  PackedFloat3 columns[4];
};

struct AxisAlignedBoundingBox {
  // Empty: any point extends it.
  AxisAlignedBoundingBox() : min(INFINITY, INFINITY, INFINITY), max(-INFINITY, -INFINITY, -INFINITY) {}
  AxisAlignedBoundingBox(PackedFloat3 p) : min(p), max(p) {}
  AxisAlignedBoundingBox(PackedFloat3 min, PackedFloat3 max) : min(min), max(max) {}

  PackedFloat3 min;
  PackedFloat3 max;
};

struct PackedFloatQuaternion {
  PackedFloatQuaternion() : PackedFloatQuaternion(0.0f, 0.0f, 0.0f, 0.0f) {}
  PackedFloatQuaternion(float x, float y, float z, float w) : x(x), y(y), z(z), w(w) {}

  float& operator[](int idx) { return elements[idx]; }
  const float& operator[](int idx) const { return elements[idx]; }

  union {
    struct {
      float x;
      float y;
      float z;
      float w;
    };
    float elements[4];
  };
};

struct ComponentTransform {
  PackedFloat3 scale;
  PackedFloat3 shear;
  PackedFloat3 pivot;
  PackedFloatQuaternion rotation;
  PackedFloat3 translation;
};

}  // namespace MTL
