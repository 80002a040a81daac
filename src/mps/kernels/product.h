// What kernels of products are given; src/mps/matrix/product.cpp has the same.
#pragma once

#include "rows.h"

struct Product {
  uint rows, columns, interior;
  float alpha, beta;
  RowStrides left, right, result;
};

// Where beta is 0, what was there before is not read.
template <typename R>
void put(device R& place, float sum, constant Product& product) {
  float value = product.alpha * sum;
  if (product.beta != 0) value += product.beta * float(place);
  place = R(value);
}
