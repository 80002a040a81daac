/* The numbers of versions, which <Availability.h> has. */
#pragma once

#include <Availability.h>
