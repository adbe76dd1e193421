/* Preloaded: while the file FLAG exists, what is written to files under FOLDER fails with EIO. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int fails(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    return size > 0 && !strncmp(path, FOLDER, strlen(FOLDER)) && !access(FLAG, F_OK);
}

#define FAIL(name, type, taken, given)                                  \
    type name taken {                                                   \
        type(*real) taken = (type(*) taken)dlsym(RTLD_NEXT, #name);     \
        if (fails(fd)) {                                                \
            errno = EIO;                                                \
            return -1;                                                  \
        }                                                               \
        return real given;                                              \
    }

FAIL(write, ssize_t, (int fd, const void *data, size_t size), (fd, data, size))
FAIL(pwrite, ssize_t, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
FAIL(pwrite64, ssize_t, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))
FAIL(fsync, int, (int fd), (fd))
FAIL(fdatasync, int, (int fd), (fd))
