/* Notes every write below CHAOS_DATA that no fsync has made durable yet, with what was there before: one
   file per inode in CHAOS_UNSYNCED. After a kill, power-cut.ts takes such writes back as a power cut would.
   Built by power-cut.ts and put in front of the C library (LD_PRELOAD). Creating, renaming and removing a
   file count as durable at once; shared memory (-shm) is not looked at, because it never survives a cut. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Must match power-cut.ts. */
enum { WRITE = 1, TRUNCATE = 2, SYNC = 3 };
struct record {
  uint64_t kind, offset, length, old_length, old_size;
};

#define MAX_FILES 256
static struct noted {
  ino_t inode;
  int fd, syncing;
} files[MAX_FILES];
static int file_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define NEXT(name, type) ((type)dlsym(RTLD_NEXT, name))
typedef ssize_t (*pwrite_t)(int, const void *, size_t, off_t);
typedef ssize_t (*write_t)(int, const void *, size_t);
typedef int (*fd_t)(int);
typedef int (*truncate_t)(int, off_t);
typedef int (*unlink_t)(const char *);

static void note_path(char *path, ino_t inode) {
  snprintf(path, PATH_MAX, "%s/%llu", getenv("CHAOS_UNSYNCED"), (unsigned long long)inode);
}

/* With the mutex held; NULL: not one of the files that count. */
static struct noted *find(int fd, struct stat *facts) {
  const char *folder = getenv("CHAOS_DATA");
  char link[64], path[PATH_MAX];
  if (!folder || !getenv("CHAOS_UNSYNCED")) return NULL;
  if (fstat(fd, facts) != 0 || !S_ISREG(facts->st_mode)) return NULL;
  for (int i = 0; i < file_count; i++)
    if (files[i].inode == facts->st_ino) return &files[i];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return NULL;
  path[length] = 0;
  if (strncmp(path, folder, strlen(folder)) != 0 || strstr(path, "-shm")) return NULL;
  if (file_count == MAX_FILES) abort();
  struct noted *file = &files[file_count];
  note_path(path, facts->st_ino);
  file->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file->fd < 0) abort();
  file->inode = facts->st_ino;
  file->syncing = 0;
  file_count++;
  return file;
}

static void append(struct noted *file, const struct record *head, const void *old, const void *data) {
  struct iovec parts[3] = {
    {(void *)head, sizeof *head}, {(void *)old, head->old_length}, {(void *)data, head->kind == WRITE ? head->length : 0}};
  ssize_t whole = (ssize_t)(parts[0].iov_len + parts[1].iov_len + parts[2].iov_len);
  /* Half a note would be worse than a dead daemon. */
  if (writev(file->fd, parts, 3) != whole) abort();
}

/* With the mutex held: keeps what [offset, offset + length) is before it changes. */
static void keep(int fd, struct noted *file, struct record *head, const void *data) {
  size_t end = head->offset + head->length;
  size_t stop = end < head->old_size ? end : head->old_size;
  head->old_length = stop > head->offset ? stop - head->offset : 0;
  char *old = head->old_length ? malloc(head->old_length) : NULL;
  if (head->old_length) {
    int reading = fd;
    char link[64];
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) {
      snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
      reading = open(link, O_RDONLY | O_CLOEXEC);
    }
    if (!old || pread(reading, old, head->old_length, head->offset) != (ssize_t)head->old_length) abort();
    if (reading != fd) close(reading);
  }
  append(file, head, old, data);
  free(old);
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  struct stat facts;
  pthread_mutex_lock(&mutex);
  struct noted *file = find(fd, &facts);
  if (!file) {
    pthread_mutex_unlock(&mutex);
    return NEXT("pwrite", pwrite_t)(fd, data, length, offset);
  }
  struct record head = {WRITE, offset, length, 0, facts.st_size};
  keep(fd, file, &head, data);
  ssize_t written = NEXT("pwrite", pwrite_t)(fd, data, length, offset);
  int error = errno;
  pthread_mutex_unlock(&mutex);
  errno = error;
  return written;
}

ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) {
  return pwrite(fd, data, length, offset);
}

ssize_t write(int fd, const void *data, size_t length) {
  struct stat facts;
  /* Pipes and sockets are most of all writes, and none of them is a file. */
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return NEXT("write", write_t)(fd, data, length);
  off_t offset = fcntl(fd, F_GETFL) & O_APPEND ? facts.st_size : lseek(fd, 0, SEEK_CUR);
  pthread_mutex_lock(&mutex);
  struct noted *file = find(fd, &facts);
  if (file) {
    struct record head = {WRITE, offset, length, 0, facts.st_size};
    keep(fd, file, &head, data);
  }
  ssize_t written = NEXT("write", write_t)(fd, data, length);
  int error = errno;
  pthread_mutex_unlock(&mutex);
  errno = error;
  return written;
}

int ftruncate(int fd, off_t size) {
  struct stat facts;
  pthread_mutex_lock(&mutex);
  struct noted *file = find(fd, &facts);
  if (file) {
    uint64_t cut = facts.st_size > size ? facts.st_size - size : 0;
    struct record head = {TRUNCATE, size, cut, 0, facts.st_size};
    keep(fd, file, &head, NULL);
  }
  int result = NEXT("ftruncate", truncate_t)(fd, size);
  int error = errno;
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

int ftruncate64(int fd, off_t size) {
  return ftruncate(fd, size);
}

/* What was written before the call is durable after it; what other threads write meanwhile is not. */
static int sync_with(const char *name, int fd) {
  struct stat facts, noted;
  pthread_mutex_lock(&mutex);
  struct noted *file = find(fd, &facts);
  uint64_t durable = 0;
  if (file) {
    file->syncing++;
    if (fstat(file->fd, &noted) == 0) durable = noted.st_size;
  }
  pthread_mutex_unlock(&mutex);
  int result = NEXT(name, fd_t)(fd);
  int error = errno;
  if (file) {
    pthread_mutex_lock(&mutex);
    file->syncing--;
    if (result == 0 && fstat(file->fd, &noted) == 0) {
      struct record head = {SYNC, durable, 0, 0, 0};
      if (file->syncing == 0 && (uint64_t)noted.st_size == durable) NEXT("ftruncate", truncate_t)(file->fd, 0);
      else append(file, &head, NULL, NULL);
    }
    pthread_mutex_unlock(&mutex);
  }
  errno = error;
  return result;
}

int fsync(int fd) {
  return sync_with("fsync", fd);
}

int fdatasync(int fd) {
  return sync_with("fdatasync", fd);
}

/* The inode's number may soon belong to another file. */
int unlink(const char *path) {
  struct stat facts;
  char note[PATH_MAX];
  unlink_t next = NEXT("unlink", unlink_t);
  pthread_mutex_lock(&mutex);
  if (getenv("CHAOS_UNSYNCED") && stat(path, &facts) == 0 && facts.st_nlink == 1) {
    note_path(note, facts.st_ino);
    next(note);
    for (int i = 0; i < file_count; i++) {
      if (files[i].inode != facts.st_ino) continue;
      close(files[i].fd);
      /* The place stays taken: another thread may be in a sync of this file. */
      files[i].inode = 0;
      files[i].fd = -1;
    }
  }
  int result = next(path);
  int error = errno;
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}
