/* A disk that fails under a running program: while the file DISK_FAULT holds a number, every write, truncation and
   sync of a file below DISK_FOLDER fails with it as errno. Put in front of the C library (LD_PRELOAD). */
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
#include <unistd.h>

#define NEXT(name, type) ((type)dlsym(RTLD_NEXT, name))

static int current_fault(void) {
  const char *name = getenv("DISK_FAULT");
  char digits[8] = {0};
  int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return 0;
  ssize_t length = read(fd, digits, sizeof digits - 1);
  close(fd);
  return length > 0 ? atoi(digits) : 0;
}

/* 0: the call goes through. */
static int fault_of(int fd) {
  const char *folder = getenv("DISK_FOLDER");
  char link[64], path[PATH_MAX];
  struct stat facts;
  if (!folder || fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return 0;
  int fault = current_fault();
  if (!fault) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  /* Shared memory is mapped, and written without a call. */
  return strncmp(path, folder, strlen(folder)) == 0 && !strstr(path, "-shm") ? fault : 0;
}

#define GUARDED(result, name, parameters, arguments)               \
  result name parameters {                                         \
    int fault = fault_of(fd);                                      \
    if (!fault) return NEXT(#name, result(*) parameters) arguments; \
    errno = fault;                                                 \
    return -1;                                                     \
  }

GUARDED(ssize_t, write, (int fd, const void *data, size_t length), (fd, data, length))
GUARDED(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
GUARDED(ssize_t, pwrite, (int fd, const void *data, size_t length, off_t offset), (fd, data, length, offset))
GUARDED(ssize_t, pwrite64, (int fd, const void *data, size_t length, off64_t offset), (fd, data, length, offset))
GUARDED(int, ftruncate, (int fd, off_t length), (fd, length))
GUARDED(int, ftruncate64, (int fd, off64_t length), (fd, length))
GUARDED(int, fallocate, (int fd, int mode, off_t offset, off_t length), (fd, mode, offset, length))
GUARDED(int, fsync, (int fd), (fd))
GUARDED(int, fdatasync, (int fd), (fd))
