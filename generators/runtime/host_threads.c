/* Parallel loops of Halide's objects: a pool whose workers take iterations from a fixed table of open loops without locks. The caller of a loop
   always works on it too, so a loop inside a loop, or a pool busy with other callers, never waits for a free worker. While others end its last
   iterations it helps with the loops inside them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getcpu, pthread_setaffinity_np */
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "generators/runtime/host.h"

typedef int (*kiln_task)(void* user_context, int index, uint8_t* closure);

enum {
  kErrorBytes = 512,
  kLoopCount = 64,       /* loops open at once; one more runs in its caller alone */
  kMaxWorkers = 1023,
  kPausesPerClock = 32,  /* pauses between two looks at the clock */
  kTakesPerThread = 64,  /* a thread takes its share of a long loop in about so many steps: the last to end is late by 1/64 at most */
};
static const int64_t kSpinNs = 50000;    /* waiting this long awake saves a wake-up (5-50 us) when loops follow each other closely */
static const int64_t kYieldNs = 2000000;  /* a caller waits this much longer for the last iterations before it sleeps: woken, it would share a worker's processor */
static const int64_t kSteerNs = 2000000;  /* workers change processors at most so often: callers in turn on several processors lose 1 us a worker to it */

/* The state of a slot: how many workers are inside, and two flags. */
enum { kOpen = 1u << 30, kCallerSleeps = 1u << 29, kInsideMask = kCallerSleeps - 1 };

/* One open loop. Everything but the atomics is written by its caller before `state` opens and read by workers inside. */
typedef struct {
  _Alignas(64) atomic_uint state;
  _Atomic int64_t next; /* the next iteration nobody has taken, from 0 */
  atomic_int error;     /* the first failure's code */
  atomic_int parent;    /* the slot of the loop whose iteration opened this one, or -1 */
  int min, count;
  int step; /* iterations taken at once */
  kiln_task task;
  void* user_context;
  uint8_t* closure;
  char text[kErrorBytes]; /* written by whoever set `error` */
} loop_slot;

static struct {
  loop_slot loops[kLoopCount];
  _Alignas(64) _Atomic uint64_t taken; /* slots that some caller owns */
  _Alignas(64) _Atomic uint64_t ready; /* slots with iterations left to take: what an idle worker watches */
  _Alignas(64) atomic_int sleepers;
  atomic_bool stopping;
  pthread_mutex_t mutex; /* for going to sleep and waking up only */
  pthread_cond_t work, done;
  pthread_t workers[kMaxWorkers];
  int worker_count;
  bool running;
  cpu_set_t allowed;   /* where the thread that started the pool may run; empty: it cannot be told */
  atomic_int avoided;  /* the processor that all workers are kept from, or -1 */
  int64_t steered_ns;  /* when they were */
  kiln_parallel_for application_loop; /* instead of the pool */
  void* application_user;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static _Thread_local bool is_worker;    /* of the pool */
static _Thread_local int current = -1; /* the slot of the loop whose iteration this thread runs */

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void keep_error(loop_slot* loop, int code) {
  int none = 0;
  if (atomic_compare_exchange_strong(&loop->error, &none, code)) {
    const char* text = kiln_host_error_code() == code ? kiln_host_error_text() : "";
    strncpy(loop->text, text, kErrorBytes - 1);
  }
}

/* Takes iterations until none is left or one has failed. */
static void take_iterations(loop_slot* loop) {
  for (;;) {
    const int64_t first = atomic_fetch_add_explicit(&loop->next, loop->step, memory_order_relaxed);
    const int64_t end = first + loop->step < loop->count ? first + loop->step : loop->count;
    if (first >= end) return;
    for (int64_t i = first; i < end; ++i) {
      const int code = loop->task(loop->user_context, loop->min + (int)i, loop->closure);
      if (code == 0) continue;
      keep_error(loop, code);
      atomic_store_explicit(&loop->next, loop->count, memory_order_relaxed); /* the rest of a failed loop is not wanted */
      return;
    }
  }
}

static void work_on(loop_slot* loop) {
  const int around = current;
  current = (int)(loop - pool.loops);
  take_iterations(loop);
  current = around;
}

static void leave(loop_slot* loop) {
  const unsigned before = atomic_fetch_sub(&loop->state, 1);
  if (before != (kCallerSleeps | 1u)) return;
  pthread_mutex_lock(&pool.mutex); /* from here on `loop` may belong to someone else */
  pthread_cond_broadcast(&pool.done);
  pthread_mutex_unlock(&pool.mutex);
}

static bool enter(loop_slot* loop) {
  unsigned state = atomic_load(&loop->state);
  while (state & kOpen) {
    if (atomic_compare_exchange_weak(&loop->state, &state, state + 1)) return true;
  }
  return false;
}

/* One round over the loops that want workers. */
static void help_open_loops(void) {
  uint64_t ready = atomic_load(&pool.ready);
  while (ready != 0) {
    const int i = __builtin_ctzll(ready);
    ready &= ready - 1;
    loop_slot* loop = &pool.loops[i];
    if (!enter(loop)) continue;
    work_on(loop);
    atomic_fetch_and(&pool.ready, ~(UINT64_C(1) << i)); /* still inside, so the slot is still this loop's */
    leave(loop);
  }
}

/* Whether loop `i` was opened, directly or through others, by an iteration of loop `around`. Sure only for who is inside `i`: then the loops around it
   stay what they are. */
static bool is_within(int i, int around) {
  for (int depth = 0; depth < kLoopCount && i >= 0; ++depth) {
    i = atomic_load_explicit(&pool.loops[i].parent, memory_order_relaxed);
    if (i == around) return true;
  }
  return false;
}

static bool has_ready_within(int around) {
  for (uint64_t ready = atomic_load(&pool.ready); ready != 0; ready &= ready - 1) {
    if (is_within(__builtin_ctzll(ready), around)) return true;
  }
  return false;
}

/* One round over the loops inside `around`, for its caller, who would only wait. Others' loops he leaves alone: they may take any time. */
static bool help_within(int around) {
  bool helped = false;
  for (uint64_t ready = atomic_load(&pool.ready); ready != 0; ready &= ready - 1) {
    const int i = __builtin_ctzll(ready);
    loop_slot* loop = &pool.loops[i];
    if (!is_within(i, around) || !enter(loop)) continue;
    if (is_within(i, around)) {
      work_on(loop);
      atomic_fetch_and(&pool.ready, ~(UINT64_C(1) << i));
      helped = true;
    }
    leave(loop);
  }
  return helped;
}

static void sleep_until_work(void) {
  pthread_mutex_lock(&pool.mutex);
  atomic_fetch_add(&pool.sleepers, 1);
  while (atomic_load(&pool.ready) == 0 && !atomic_load(&pool.stopping)) pthread_cond_wait(&pool.work, &pool.mutex);
  atomic_fetch_sub(&pool.sleepers, 1);
  pthread_mutex_unlock(&pool.mutex);
}

static void* worker_main(void* unused) {
  is_worker = true;
  int64_t idle_since = now_ns();
  while (!atomic_load(&pool.stopping)) {
    if (atomic_load(&pool.ready) != 0) {
      help_open_loops();
      idle_since = now_ns();
    } else if (now_ns() - idle_since > kSpinNs) {
      sleep_until_work();
      idle_since = now_ns();
    }
    for (int i = 0; i < kPausesPerClock && atomic_load_explicit(&pool.ready, memory_order_relaxed) == 0; ++i) __builtin_ia32_pause();
  }
  return unused;
}

/* Keeps the workers from the caller's processor, where they would only take turns with it. Left alone, Linux in a virtual machine was seen to wake
   them just there (probably because a virtual processor that sleeps counts as taken). (A product of 1.7 ms then took 3.5 ms, as with one thread, for 20 ms and more.) */
static void steer_workers(void) {
  if (is_worker) return; /* a loop inside a loop: steered from here, the worker would leave its own processor for the caller's */
  const int cpu = sched_getcpu();
  if (cpu < 0 || cpu == atomic_load_explicit(&pool.avoided, memory_order_relaxed) || pthread_mutex_trylock(&pool.mutex) != 0) return;
  const int64_t now = now_ns();
  cpu_set_t rest = pool.allowed;
  CPU_CLR(cpu, &rest);
  if (now - pool.steered_ns >= kSteerNs && CPU_COUNT(&rest) >= pool.worker_count) { /* with more threads than processors they have to share */
    for (int i = 0; i < pool.worker_count; ++i) pthread_setaffinity_np(pool.workers[i], sizeof rest, &rest);
    atomic_store(&pool.avoided, cpu);
    pool.steered_ns = now;
  }
  pthread_mutex_unlock(&pool.mutex);
}

static void wake(int wanted) {
  if (atomic_load(&pool.sleepers) == 0) return;
  pthread_mutex_lock(&pool.mutex);
  if (wanted >= atomic_load(&pool.sleepers)) {
    pthread_cond_broadcast(&pool.work);
  } else {
    for (int i = 0; i < wanted; ++i) pthread_cond_signal(&pool.work);
  }
  pthread_mutex_unlock(&pool.mutex);
}

/* The index of a slot that is ours now, or -1. */
static int take_slot(void) {
  uint64_t taken = atomic_load(&pool.taken);
  while (~taken != 0) {
    const int i = __builtin_ctzll(~taken);
    if (atomic_compare_exchange_weak(&pool.taken, &taken, taken | UINT64_C(1) << i)) return i;
  }
  return -1;
}

static bool is_empty(loop_slot* loop) { return (atomic_load(&loop->state) & kInsideMask) == 0; }

/* True when the loop is empty, false when it is time to sleep: awake at first, since most workers are about to end, then letting others run in between. */
static bool is_empty_soon(loop_slot* loop, int index) {
  int64_t start = now_ns();
  for (int64_t waited = 0; waited < kSpinNs + kYieldNs; waited = now_ns() - start) {
    for (int i = 0; i < kPausesPerClock; ++i) {
      if (is_empty(loop)) return true;
      __builtin_ia32_pause();
    }
    if (help_within(index)) start = now_ns();
    if (waited > kSpinNs) sched_yield();
  }
  return false;
}

/* Waits for the workers that still run an iteration. */
static void wait_until_empty(loop_slot* loop, int index) {
  while (!is_empty_soon(loop, index)) {
    pthread_mutex_lock(&pool.mutex);
    atomic_fetch_or(&loop->state, kCallerSleeps);
    while (!is_empty(loop) && !has_ready_within(index)) pthread_cond_wait(&pool.done, &pool.mutex);
    pthread_mutex_unlock(&pool.mutex);
  }
}

/* Callers of the loops around this one who sleep until theirs are done: there is something to help with. */
static void wake_callers_around(int parent) {
  bool any = false;
  for (int depth = 0; depth < kLoopCount && parent >= 0; ++depth) {
    any = any || (atomic_load(&pool.loops[parent].state) & kCallerSleeps) != 0;
    parent = atomic_load_explicit(&pool.loops[parent].parent, memory_order_relaxed);
  }
  if (!any) return;
  pthread_mutex_lock(&pool.mutex);
  pthread_cond_broadcast(&pool.done);
  pthread_mutex_unlock(&pool.mutex);
}

static int run_alone(void* user_context, kiln_task task, int min, int count, uint8_t* closure) {
  for (int i = 0; i < count; ++i) {
    const int code = task(user_context, min + i, closure);
    if (code != 0) return code;
  }
  return 0;
}

static void fill(loop_slot* loop, void* user_context, kiln_task task, int min, int count, uint8_t* closure) {
  loop->task = task;
  loop->user_context = user_context;
  loop->min = min;
  loop->count = count;
  loop->step = 1 + count / (kTakesPerThread * (pool.worker_count + 1));
  loop->closure = closure;
  loop->text[0] = 0;
  atomic_store_explicit(&loop->next, 0, memory_order_relaxed);
  atomic_store_explicit(&loop->error, 0, memory_order_relaxed);
  atomic_store_explicit(&loop->parent, current, memory_order_relaxed);
}

/* The loop's code; its text becomes this thread's. */
static int outcome(loop_slot* loop) {
  const int code = atomic_load(&loop->error);
  return code == 0 ? 0 : kiln_host_fail(code, "%s", loop->text);
}

static int run_in_pool(void* user_context, kiln_task task, int min, int count, uint8_t* closure) {
  const int index = take_slot();
  if (index < 0) return run_alone(user_context, task, min, count, closure);
  loop_slot* loop = &pool.loops[index];
  const uint64_t bit = UINT64_C(1) << index;
  fill(loop, user_context, task, min, count, closure);
  atomic_store(&loop->state, kOpen);
  atomic_fetch_or(&pool.ready, bit);
  steer_workers();
  wake(count - 1);
  wake_callers_around(current);
  work_on(loop);
  atomic_fetch_and(&pool.ready, ~bit);
  if (atomic_fetch_and(&loop->state, ~kOpen) != kOpen) wait_until_empty(loop, index);
  atomic_store(&loop->state, 0);
  const int code = outcome(loop);
  atomic_fetch_and(&pool.taken, ~bit);
  return code;
}

static int run_one_of(void* argument, int index) {
  loop_slot* loop = argument;
  const int code = loop->task(loop->user_context, loop->min + index, loop->closure);
  if (code != 0) keep_error(loop, code);
  return code;
}

static int run_in_application(void* user_context, kiln_task task, int min, int count, uint8_t* closure) {
  loop_slot loop;
  memset(&loop, 0, sizeof loop);
  fill(&loop, user_context, task, min, count, closure);
  const int code = pool.application_loop(pool.application_user, count, run_one_of, &loop);
  const int kept = outcome(&loop);
  if (kept == 0 && code != 0) return kiln_host_fail(code, "the application's parallel loop over %d iterations returned %d", count, code);
  return kept;
}

int halide_do_par_for(void* user_context, kiln_task task, int min, int count, uint8_t* closure) {
  if (count <= 0) return 0;
  if (count > 1 && pool.application_loop) return run_in_application(user_context, task, min, count, closure);
  if (count > 1 && pool.worker_count > 0) return run_in_pool(user_context, task, min, count, closure);
  return run_alone(user_context, task, min, count, closure);
}

/* Workers must not run the application's signal handlers: they inherit this mask. */
static int start_worker(pthread_t* worker) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(worker, NULL, worker_main, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed;
}

int kiln_host_start(int threads) {
  if (pool.running) return kiln_host_fail(KILN_HOST_RUNNING, "the thread pool is already running with %d threads", kiln_host_threads());
  if (threads < 1 || threads > kMaxWorkers + 1) {
    return kiln_host_fail(KILN_HOST_NO_THREAD, "%d threads asked for; 1 to %d are possible", threads, kMaxWorkers + 1);
  }
  pool.running = true;
  pool.avoided = -1;
  pool.steered_ns = 0;
  if (pthread_getaffinity_np(pthread_self(), sizeof pool.allowed, &pool.allowed) != 0) CPU_ZERO(&pool.allowed);
  for (int i = 0; i + 1 < threads; ++i) {
    if (start_worker(&pool.workers[i]) != 0) {
      kiln_host_stop();
      return kiln_host_fail(KILN_HOST_NO_THREAD, "%d threads asked for; the system refused thread %d", threads, i + 2);
    }
    pool.worker_count = i + 1;
  }
  return KILN_HOST_OK;
}

int kiln_host_start_with(kiln_parallel_for loop, void* user) {
  if (pool.running) return kiln_host_fail(KILN_HOST_RUNNING, "the thread pool is already running with %d threads", kiln_host_threads());
  pool.running = true;
  pool.application_loop = loop;
  pool.application_user = user;
  return KILN_HOST_OK;
}

void kiln_host_stop(void) {
  pthread_mutex_lock(&pool.mutex);
  atomic_store(&pool.stopping, true);
  pthread_cond_broadcast(&pool.work);
  pthread_mutex_unlock(&pool.mutex);
  for (int i = 0; i < pool.worker_count; ++i) pthread_join(pool.workers[i], NULL);
  pool.worker_count = 0;
  atomic_store(&pool.stopping, false);
  pool.application_loop = NULL;
  pool.application_user = NULL;
  pool.running = false;
  kiln_host_trim_scratch();
}

int kiln_host_threads(void) { return pool.application_loop ? 0 : pool.worker_count + 1; }
