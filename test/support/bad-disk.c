/* A bad disk under a running program. While the file DISK_FAULT holds a number, every write, truncation and sync of a file
   below DISK_FOLDER fails with it as errno; while DISK_DELAY holds one, every sync there takes as many milliseconds longer.
   Put in front of the C library (LD_PRELOAD). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name, type) ((type)dlsym(RTLD_NEXT, name))

/* What the file with that name in the environment holds; 0 without one. */
static int number_in(const char *variable) {
  const char *name = getenv(variable);
  char digits[8] = {0};
  int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return 0;
  ssize_t length = read(fd, digits, sizeof digits - 1);
  close(fd);
  return length > 0 ? atoi(digits) : 0;
}

static int is_on_disk(int fd) {
  const char *folder = getenv("DISK_FOLDER");
  char link[64], path[PATH_MAX];
  struct stat facts;
  if (!folder || fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  /* Shared memory is mapped, and written without a call. */
  return strncmp(path, folder, strlen(folder)) == 0 && !strstr(path, "-shm");
}

/* 0: the call goes through. */
static int fault_of(int fd) {
  int fault = number_in("DISK_FAULT");
  return fault && is_on_disk(fd) ? fault : 0;
}

static void take_time(int fd) {
  int delay = number_in("DISK_DELAY");
  if (!delay || !is_on_disk(fd)) return;
  struct timespec left = {delay / 1000, delay % 1000 * 1000000L};
  while (nanosleep(&left, &left) != 0 && errno == EINTR);
}

#define GUARDED(result, name, parameters, arguments, before)        \
  result name parameters {                                         \
    int fault = fault_of(fd);                                      \
    before;                                                        \
    if (!fault) return NEXT(#name, result(*) parameters) arguments; \
    errno = fault;                                                 \
    return -1;                                                     \
  }

GUARDED(ssize_t, write, (int fd, const void *data, size_t length), (fd, data, length), )
GUARDED(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count), )
GUARDED(ssize_t, pwrite, (int fd, const void *data, size_t length, off_t offset), (fd, data, length, offset), )
GUARDED(ssize_t, pwrite64, (int fd, const void *data, size_t length, off64_t offset), (fd, data, length, offset), )
GUARDED(int, ftruncate, (int fd, off_t length), (fd, length), )
GUARDED(int, ftruncate64, (int fd, off64_t length), (fd, length), )
GUARDED(int, fallocate, (int fd, int mode, off_t offset, off_t length), (fd, mode, offset, length), )
GUARDED(int, fsync, (int fd), (fd), take_time(fd))
GUARDED(int, fdatasync, (int fd), (fd), take_time(fd))
