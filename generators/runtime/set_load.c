/* The life of a set in a process: load starts the threads and asks the CPU, unload joins them and writes the call counts. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "generators/runtime/set.h"
#include "generators/runtime/set_cpu.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int loads;               /* loads without their unload; guarded by mutex */
static uint32_t number_of_loads;
static char* calls_path;        /* guarded by mutex */
static void (*warn_function)(void* user, const char* text);
static void* warn_user;
static int fallback;
static uint64_t features;
static atomic_uint current_load; /* written last: what the others read after it is written before it */

uint32_t kiln_load_number(void) { return atomic_load_explicit(&current_load, memory_order_acquire); }
uint64_t kiln_loaded_features(void) { return features; }
int kiln_fallback(void) { return fallback; }

void kiln_warn(const char* text) {
  if (warn_function) warn_function(warn_user, text);
}

/* Threads when the application names none: as tuned, but no more than this process may use. */
static int default_threads(const kiln_set* set) {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return 1;
  const int count = CPU_COUNT(&usable);
  return count < set->threads ? count : set->threads;
}

/* Fields that the caller's struct is too old to have are zero. */
static int read_options(const kiln_set* set, const kiln_options* given, kiln_options* options) {
  memset(options, 0, sizeof *options);
  if (given == NULL) return 0;
  if (given->size < sizeof given->size || given->size > sizeof *options) {
    return kiln_host_fail(KILN_ERR_ABI, "%s: the options have %u bytes, this library (ABI %d) knows %u", set->name, (unsigned)given->size, KILN_SET_ABI,
                          (unsigned)sizeof *options);
  }
  memcpy(options, given, given->size);
  if (options->threads < 0) return kiln_host_fail(KILN_ERR_THREADS, "%s: %d threads asked for, at least 1 is needed (0: as tuned)", set->name, options->threads);
  if (options->fallback < KILN_FALLBACK_WARN_ONCE || options->fallback > KILN_FALLBACK_ERROR) {
    return kiln_host_fail(KILN_ERR_ABI, "%s: fallback is %d, this library (ABI %d) knows %d to %d", set->name, options->fallback, KILN_SET_ABI,
                          KILN_FALLBACK_WARN_ONCE, KILN_FALLBACK_ERROR);
  }
  return 0;
}

static int start_threads(const kiln_set* set, const kiln_options* options) {
  const int threads = options->threads ? options->threads : default_threads(set);
  const int code = options->parallel_for ? kiln_host_start_with(options->parallel_for, options->parallel_for_user) : kiln_host_start(threads);
  return code == 0 ? 0 : kiln_host_fail(KILN_ERR_THREADS, "%s: %s", set->name, kiln_host_error_text());
}

static int load_first(const kiln_set* set, const kiln_options* given) {
  kiln_options options;
  int code = read_options(set, given, &options);
  if (code != 0) return code;
  char* path = options.calls_path ? strdup(options.calls_path) : NULL;
  if (options.calls_path && path == NULL) return kiln_host_fail(KILN_ERR_FILE, "%s: no memory for calls_path", set->name);
  code = start_threads(set, &options);
  if (code != 0) {
    free(path);
    return code;
  }
  calls_path = path;
  warn_function = options.warn;
  warn_user = options.warn_user;
  fallback = options.fallback;
  features = kiln_cpu_features();
  kiln_reset_window();
  ++number_of_loads;
  atomic_store_explicit(&current_load, number_of_loads, memory_order_release);
  return 0;
}

int kiln_load(const kiln_set* set, const kiln_options* options) {
  pthread_mutex_lock(&mutex);
  const int code = loads == 0 ? load_first(set, options) : 0;
  if (code == 0) ++loads;
  pthread_mutex_unlock(&mutex);
  return code;
}

static void give_back_devices(const kiln_set* set) {
  for (int e = 0; e < set->entry_count; ++e) {
    for (int v = 0; v < set->entries[e].variant_count; ++v) {
      if (set->entries[e].variants[v].cuda == NULL) continue;
      set->entries[e].variants[v].cuda->functions->unload(set); /* of all of them */
      return;
    }
  }
}

static int unload_last(const kiln_set* set) {
  atomic_store_explicit(&current_load, 0, memory_order_release);
  const int code = calls_path ? kiln_dump_calls(set, calls_path) : 0;
  give_back_devices(set);
  kiln_host_stop();
  free(calls_path);
  calls_path = NULL;
  return code;
}

int kiln_unload(const kiln_set* set) {
  pthread_mutex_lock(&mutex);
  int code = 0;
  if (loads == 0) code = kiln_host_fail(KILN_ERR_NOT_LOADED, "%s: the set is not loaded", set->name);
  else if (--loads == 0) code = unload_last(set);
  pthread_mutex_unlock(&mutex);
  return code;
}

const kiln_entry* kiln_find_entry(const kiln_set* set, const char* name) {
  for (int e = 0; name != NULL && e < set->entry_count; ++e) {
    if (strcmp(set->entries[e].name, name) == 0) return &set->entries[e];
  }
  return NULL;
}
