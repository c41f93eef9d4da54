/* Call counts: a fixed open hash table an entry, filled in plan, counted in run by relaxed atomics, written as a demand file on request. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "generators/runtime/set.h"

enum { kEmpty = 0, kBeingWritten = 1, kReady = 2 };

static _Atomic int64_t window_start_s;

void kiln_reset_window(void) {
  int64_t never = 0; /* a second load goes on counting: the window is as old as the counts */
  atomic_compare_exchange_strong(&window_start_s, &never, (int64_t)time(NULL));
}

static int64_t* key_of(const kiln_entry* entry, uint32_t slot) { return &entry->calls->keys[(size_t)slot * (size_t)entry->symbol_count]; }

static uint32_t hash(const kiln_entry* entry, const int64_t* extents, int tier) {
  uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)tier; /* FNV-1a over whole words */
  for (int s = 0; s < entry->symbol_count; ++s) h = (h ^ (uint64_t)extents[s]) * UINT64_C(0x100000001b3);
  return (uint32_t)(h ^ h >> 29);
}

static int same_key(const kiln_entry* entry, uint32_t slot, const int64_t* extents, int tier) {
  const size_t bytes = sizeof *extents * (size_t)entry->symbol_count;
  return entry->calls->slots[slot].tier == tier && memcmp(key_of(entry, slot), extents, bytes) == 0;
}

/* Makes an empty slot ours; fails when another thread was faster. */
static int claim(const kiln_entry* entry, uint32_t index, const int64_t* extents, int tier) {
  kiln_call_slot* slot = &entry->calls->slots[index];
  int empty = kEmpty;
  if (!atomic_compare_exchange_strong(&slot->state, &empty, kBeingWritten)) return 0;
  slot->tier = tier;
  memcpy(key_of(entry, index), extents, sizeof *extents * (size_t)entry->symbol_count);
  atomic_store_explicit(&slot->state, kReady, memory_order_release);
  return 1;
}

/* A slot that another thread is just writing is passed over; if it was the same shape, two slots count it and the dump adds them up. */
kiln_call_slot* kiln_call_counter(const kiln_entry* entry, const int64_t* extents, int tier) {
  kiln_calls* calls = entry->calls;
  uint32_t index = hash(entry, extents, tier) % KILN_CALL_SLOTS;
  for (int probe = 0; probe < KILN_CALL_SLOTS; ++probe, index = (index + 1) % KILN_CALL_SLOTS) {
    kiln_call_slot* slot = &calls->slots[index];
    int state = atomic_load_explicit(&slot->state, memory_order_acquire);
    if (state == kReady && same_key(entry, index, extents, tier)) return slot;
    if (state != kEmpty) continue;
    if (atomic_fetch_add(&calls->used, 1) >= KILN_CALL_SHAPES) {
      atomic_fetch_sub(&calls->used, 1);
      return &calls->overflow;
    }
    if (claim(entry, index, extents, tier)) return slot;
    atomic_fetch_sub(&calls->used, 1);
  }
  return &calls->overflow;
}

const char* kiln_print_extents(const kiln_entry* entry, const int64_t* extents, char* text, size_t bytes) {
  size_t used = 0;
  text[0] = 0;
  for (int s = 0; s < entry->symbol_count && used < bytes; ++s) {
    used += (size_t)snprintf(text + used, bytes - used, "%s%s=%" PRId64, s ? ", " : "", entry->symbols[s].name, extents[s]);
  }
  return text;
}

typedef struct {
  const kiln_entry* entry;
  const int64_t* extents;
  uint64_t calls;
} counted_shape;

/* Most called first; equal counts by extents. Rows of one entry only. */
static int by_extents(const void* left, const void* right) {
  const counted_shape *a = left, *b = right;
  for (int s = 0; s < a->entry->symbol_count; ++s) {
    if (a->extents[s] != b->extents[s]) return a->extents[s] < b->extents[s] ? -1 : 1;
  }
  return 0;
}

static int by_calls(const void* left, const void* right) {
  const counted_shape *a = left, *b = right;
  if (a->calls != b->calls) return a->calls > b->calls ? -1 : 1;
  return by_extents(left, right);
}

/* The shapes of one tier that were called, each once. `rows` has room for KILN_CALL_SLOTS. */
static int collect(const kiln_entry* entry, int tier, counted_shape* rows) {
  int count = 0, merged = 0;
  for (uint32_t i = 0; i < KILN_CALL_SLOTS; ++i) {
    kiln_call_slot* slot = &entry->calls->slots[i];
    if (atomic_load_explicit(&slot->state, memory_order_acquire) != kReady || slot->tier != tier) continue;
    const uint64_t calls = atomic_load_explicit(&slot->calls, memory_order_relaxed);
    if (calls != 0) rows[count++] = (counted_shape){.entry = entry, .extents = key_of(entry, i), .calls = calls};
  }
  qsort(rows, (size_t)count, sizeof *rows, by_extents);
  for (int i = 0; i < count; ++i) {
    if (merged > 0 && by_extents(&rows[merged - 1], &rows[i]) == 0) rows[merged - 1].calls += rows[i].calls;
    else rows[merged++] = rows[i];
  }
  qsort(rows, (size_t)merged, sizeof *rows, by_calls);
  return merged;
}

static void write_tier(FILE* file, const kiln_set* set, int tier, counted_shape* rows) {
  static const char* const kTiers[] = {"", "exact", "bucket", "generic"};
  char extents[512];
  int has_header = 0;
  for (int e = 0; e < set->entry_count; ++e) {
    const kiln_entry* entry = &set->entries[e];
    const int count = collect(entry, tier, rows);
    if (count > 0 && !has_header) has_header = fprintf(file, "# tier %s\n", kTiers[tier]) > 0;
    for (int i = 0; i < count; ++i) {
      fprintf(file, "%" PRIu64 " %s(%s%s)\n", rows[i].calls, entry->operator_name, kiln_print_extents(entry, rows[i].extents, extents, sizeof extents),
              entry->problem_tail);
    }
  }
}

/* RFC 3339 in UTC. By hand, since the C library's calendar reads TZ. Days to a date by eras of 400 years that begin on a 1st of March. */
static void print_utc(int64_t seconds, char text[40]) {
  const int64_t days = seconds / 86400 + 719468, second = seconds % 86400; /* from 0000-03-01; seconds are never before 1970 */
  const int64_t era = days / 146097, day_of_era = days % 146097;
  const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month = (5 * day_of_year + 2) / 153; /* 0 is March */
  const int64_t day = day_of_year - (153 * month + 2) / 5 + 1;
  const int64_t year = 400 * era + year_of_era + (month >= 10);
  snprintf(text, 40, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)year, (int)(month < 10 ? month + 3 : month - 9), (int)day, (int)(second / 3600),
           (int)(second / 60 % 60), (int)(second % 60));
}

static void write_window(FILE* file) {
  char start[40], end[40];
  print_utc(atomic_load(&window_start_s), start);
  print_utc((int64_t)time(NULL) + 1, end); /* the second that has begun counts, so that no window is empty */
  fprintf(file, "# window %s %s\n", start, end);
}

static void write_demand(FILE* file, const kiln_set* set, counted_shape* rows) {
  uint64_t overflow = 0;
  fprintf(file, "# application %s\n", set->name);
  write_window(file);
  for (int tier = KILN_TIER_EXACT; tier <= KILN_TIER_GENERIC; ++tier) write_tier(file, set, tier, rows);
  for (int e = 0; e < set->entry_count; ++e) overflow += atomic_load_explicit(&set->entries[e].calls->overflow.calls, memory_order_relaxed);
  if (overflow != 0) fprintf(file, "# overflow %" PRIu64 "\n", overflow);
}

static int fail_file(const kiln_set* set, const char* path, const char* what) {
  char reason[128];
  const int number = errno;
  if (strerror_r(number, reason, sizeof reason) != 0) snprintf(reason, sizeof reason, "error %d", number);
  return kiln_host_fail(KILN_ERR_FILE, "%s: call counts could not be %s %s: %s", set->name, what, path, reason);
}

/* Written beside the file and renamed, so that a reader sees the old counts or the new ones. */
int kiln_dump_calls(const kiln_set* set, const char* path) {
  if (path == NULL) return kiln_host_fail(KILN_ERR_NULL_ARG, "%s: path is NULL", set->name);
  const size_t bytes = strlen(path) + 32;
  char* temporary = malloc(bytes);
  counted_shape* rows = malloc(sizeof *rows * KILN_CALL_SLOTS);
  int code = 0;
  FILE* file = NULL;
  if (temporary != NULL && rows != NULL) {
    snprintf(temporary, bytes, "%s.%ld.part", path, (long)getpid());
    file = fopen(temporary, "we");
  }
  if (file == NULL) {
    code = fail_file(set, path, "written to");
  } else {
    write_demand(file, set, rows);
    const int failed = ferror(file); /* fclose is called either way */
    if (fclose(file) != 0 || failed) code = fail_file(set, path, "written to");
    else if (rename(temporary, path) != 0) code = fail_file(set, path, "moved to");
    if (code != 0) unlink(temporary);
  }
  free(rows);
  free(temporary);
  return code;
}
