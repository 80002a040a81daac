/* The part of Grand Central Dispatch that programs for Metal use: queues that run functions, data, semaphores, groups,
 * points in time. Names and meaning are Apple's; a program that finds another <dispatch/dispatch.h> first may use that
 * one with our Metal headers. Functions that take blocks are there where the compiler has them (clang -fblocks); the
 * forms that end in _f take a function and its context instead. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef DISPATCH_EXPORT
#ifdef __cplusplus
#define DISPATCH_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define DISPATCH_EXPORT extern __attribute__((visibility("default")))
#endif
#endif

#ifdef __cplusplus
typedef struct dispatch_object_s* dispatch_object_t;
struct dispatch_object_s {};
#define DISPATCH_DECL(name)               \
  struct name##_s : dispatch_object_s {}; \
  typedef struct name##_s* name##_t
#else
typedef void* dispatch_object_t;
#define DISPATCH_DECL(name) typedef struct name##_s* name##_t
#endif

DISPATCH_DECL(dispatch_queue);
DISPATCH_DECL(dispatch_queue_attr);
DISPATCH_DECL(dispatch_data);
DISPATCH_DECL(dispatch_semaphore);
DISPATCH_DECL(dispatch_group);

typedef dispatch_queue_t dispatch_queue_main_t;
typedef dispatch_queue_t dispatch_queue_global_t;
typedef dispatch_queue_t dispatch_queue_serial_t;
typedef dispatch_queue_t dispatch_queue_concurrent_t;

typedef void (*dispatch_function_t)(void* context);

#ifdef __BLOCKS__
typedef void (^dispatch_block_t)(void);
#else
typedef const struct dispatch_block_s* dispatch_block_t;
#endif

/* Objects are counted like those of Foundation: what a create function gives belongs to the caller. */
DISPATCH_EXPORT void dispatch_retain(dispatch_object_t object);
DISPATCH_EXPORT void dispatch_release(dispatch_object_t object);

/* Points in time, as nanoseconds of a clock that only goes forward. */
typedef uint64_t dispatch_time_t;

#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define USEC_PER_SEC 1000000ull
#define NSEC_PER_USEC 1000ull

#define DISPATCH_TIME_NOW (0ull)
#define DISPATCH_TIME_FOREVER (~0ull)

DISPATCH_EXPORT dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delta);

/* Queues. A serial queue runs one function at a time, in order; a concurrent one runs several. The main queue runs
 * its functions in dispatch_main(), which does not return. */
#define DISPATCH_QUEUE_PRIORITY_HIGH 2
#define DISPATCH_QUEUE_PRIORITY_DEFAULT 0
#define DISPATCH_QUEUE_PRIORITY_LOW (-2)
#define DISPATCH_QUEUE_PRIORITY_BACKGROUND INT16_MIN

#ifndef QOS_CLASS_DEFAULT
typedef unsigned int qos_class_t;
#define QOS_CLASS_USER_INTERACTIVE 0x21u
#define QOS_CLASS_USER_INITIATED 0x19u
#define QOS_CLASS_DEFAULT 0x15u
#define QOS_CLASS_UTILITY 0x11u
#define QOS_CLASS_BACKGROUND 0x09u
#define QOS_CLASS_UNSPECIFIED 0x00u
#endif

#define DISPATCH_QUEUE_SERIAL NULL
#define DISPATCH_QUEUE_CONCURRENT (&_dispatch_queue_attr_concurrent)
#define DISPATCH_TARGET_QUEUE_DEFAULT NULL

DISPATCH_EXPORT struct dispatch_queue_attr_s _dispatch_queue_attr_concurrent;

DISPATCH_EXPORT dispatch_queue_t dispatch_queue_create(const char* label, dispatch_queue_attr_t attribute);
DISPATCH_EXPORT dispatch_queue_attr_t dispatch_queue_attr_make_with_qos_class(dispatch_queue_attr_t attribute,
                                                                              qos_class_t qos, int relative_priority);
DISPATCH_EXPORT dispatch_queue_t dispatch_get_main_queue(void);
DISPATCH_EXPORT dispatch_queue_t dispatch_get_global_queue(intptr_t priority, uintptr_t flags);
DISPATCH_EXPORT const char* dispatch_queue_get_label(dispatch_queue_t queue);
DISPATCH_EXPORT void dispatch_main(void) __attribute__((noreturn));

DISPATCH_EXPORT void dispatch_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
DISPATCH_EXPORT void dispatch_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
DISPATCH_EXPORT void dispatch_apply_f(size_t iterations, dispatch_queue_t queue, void* context,
                                      void (*work)(void* context, size_t iteration));

typedef intptr_t dispatch_once_t;
DISPATCH_EXPORT void dispatch_once_f(dispatch_once_t* predicate, void* context, dispatch_function_t function);

/* Waiting answers 0, or something else if the time is over. */
DISPATCH_EXPORT dispatch_semaphore_t dispatch_semaphore_create(intptr_t value);
DISPATCH_EXPORT intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout);
DISPATCH_EXPORT intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore);

DISPATCH_EXPORT dispatch_group_t dispatch_group_create(void);
DISPATCH_EXPORT void dispatch_group_enter(dispatch_group_t group);
DISPATCH_EXPORT void dispatch_group_leave(dispatch_group_t group);
DISPATCH_EXPORT intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t timeout);
DISPATCH_EXPORT void dispatch_group_async_f(dispatch_group_t group, dispatch_queue_t queue, void* context,
                                            dispatch_function_t work);
DISPATCH_EXPORT void dispatch_group_notify_f(dispatch_group_t group, dispatch_queue_t queue, void* context,
                                             dispatch_function_t work);

/* Bytes. The default destructor means that they are copied; the free destructor that free() gives them back. */
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT NULL
#define DISPATCH_DATA_DESTRUCTOR_FREE (_dispatch_data_destructor_free)

DISPATCH_EXPORT const dispatch_block_t _dispatch_data_destructor_free;

DISPATCH_EXPORT dispatch_data_t dispatch_data_create(const void* buffer, size_t size, dispatch_queue_t queue,
                                                     dispatch_block_t destructor);
DISPATCH_EXPORT size_t dispatch_data_get_size(dispatch_data_t data);
DISPATCH_EXPORT dispatch_data_t dispatch_data_create_map(dispatch_data_t data, const void** buffer, size_t* size);

#ifdef __BLOCKS__
DISPATCH_EXPORT void dispatch_async(dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_apply(size_t iterations, dispatch_queue_t queue, void (^block)(size_t iteration));
DISPATCH_EXPORT void dispatch_once(dispatch_once_t* predicate, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_group_notify(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);
#endif
