// What reference counting must know of autorelease pools.
#pragma once

#include <Foundation/NSPrivate.hpp>

namespace metalloid::foundation {

// Of an object that was autoreleased so many times, and has been released once too often: whether no pool holds it, but
// only threads that had none at that time. They forget it then.
bool is_in_no_pool(NS::Private::Counted* object, NS::UInteger times);

}  // namespace metalloid::foundation
