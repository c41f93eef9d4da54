/* The runtime under Halide's `no_runtime` objects on a CPU: threads, scratch memory, errors. It ships inside every package and is linked into
   the tuner, so that what is measured is what is called. Only libc; prints nothing, reads no environment variable, ends no process.
   The functions Halide's objects ask for (halide_do_par_for, halide_malloc, halide_free, halide_error_*) are defined beside these;
   a package keeps all of them local to itself. */
#ifndef KILN_RUNTIME_HOST_H
#define KILN_RUNTIME_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Codes that the runtime itself returns beside Halide's own (-1 … -48). */
enum {
  KILN_HOST_OK = 0,
  KILN_HOST_NO_THREAD = -101, /* the system refused to start a worker */
  KILN_HOST_RUNNING = -102    /* start was called twice without a stop between */
};

/* An application's own parallel loop: calls body(argument, i) once for every i in [0, count), on any threads and in any order, and returns
   after the last call has returned: 0, or any of the non-zero values that body returned. */
typedef int (*kiln_parallel_for)(void* user, int count, int (*body)(void* argument, int index), void* argument);

/* Makes a pool in which `threads` threads work on a parallel loop, the caller of the loop being one of them: threads - 1 workers are started.
   1 runs every loop in its caller. Workers run on the processors that the calling thread may use, and keep off that of a loop's caller. Returns KILN_HOST_OK or a code with a text. Not to be called at the same time as any other function here. */
int kiln_host_start(int threads);

/* Runs every parallel loop through the application's function instead; starts no thread. Same rules as kiln_host_start. */
int kiln_host_start_with(kiln_parallel_for loop, void* user);

/* Joins the workers and gives all scratch memory back. No kernel may be running. Without a start before it, does nothing. */
void kiln_host_stop(void);

/* Threads that work on one parallel loop, its caller included: 1 before start, 0 when the application's loop decides. */
int kiln_host_threads(void);

/* The last failure on this thread: Halide's code and a sentence that names argument, dimension and both numbers. Cleared by
   kiln_host_clear_error only. A kernel that fails on a worker leaves its text on the thread that called the kernel. */
int kiln_host_error_code(void);
const char* kiln_host_error_text(void);
void kiln_host_clear_error(void);

/* Sets this thread's failure and returns `code`. The text is cut at 511 bytes. */
int kiln_host_fail(int code, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* Scratch memory that kernels use or have left in the pools for the next call. Any thread, any time. */
size_t kiln_host_scratch_bytes(void);

/* Gives the pooled blocks back to the system. Safe while kernels run; they then allocate anew. */
void kiln_host_trim_scratch(void);

#ifdef __cplusplus
}
#endif
#endif
