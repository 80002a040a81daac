/* Marks for Apple's Instruments. There is no Instruments here: a program may place them, and they do nothing. */
#pragma once

#include <os/log.h>

typedef uint64_t os_signpost_id_t;
#define OS_SIGNPOST_ID_NULL ((os_signpost_id_t)0)
#define OS_SIGNPOST_ID_INVALID ((os_signpost_id_t)~0ull)
#define OS_SIGNPOST_ID_EXCLUSIVE ((os_signpost_id_t)0xEEEEB0B5B2B2EEEEull)

static inline bool os_signpost_enabled(os_log_t log) {
  (void)log;
  return false;
}

static inline os_signpost_id_t os_signpost_id_generate(os_log_t log) {
  (void)log;
  return OS_SIGNPOST_ID_EXCLUSIVE;
}

static inline os_signpost_id_t os_signpost_id_make_with_pointer(os_log_t log, const void* pointer) {
  (void)log;
  return (os_signpost_id_t)(uintptr_t)pointer;
}

#define os_signpost_interval_begin(log, id, ...) ((void)(log), (void)(id))
#define os_signpost_animation_interval_begin(log, id, ...) ((void)(log), (void)(id))
#define os_signpost_interval_end(log, id, ...) ((void)(log), (void)(id))
#define os_signpost_event_emit(log, id, ...) ((void)(log), (void)(id))
