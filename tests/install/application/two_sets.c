/* Two sets in one program: each has its own threads, errors and counts. */
#include <stdio.h>

#include "night.h"
#include "second.h"

int main(void) {
  night_opts one = {.size = sizeof one, .threads = 2};
  second_opts two = {.size = sizeof two, .threads = 4};
  if (night_load(&one) != 0) return 1;
  printf("%d\n", second_axpb(NULL, 1, NULL, NULL));
  printf("%s|%s\n", second_last_error(), night_last_error());
  if (second_load(&two) != 0) return 1;
  printf("%d %d\n", night_threads(), second_threads());
  return night_unload() + second_unload();
}
