/* Makes the n-th allocation, write, synchronisation, naming or thread of a process fail, as a system without memory,
 * with a full disk or with a broken one does. It is loaded before a program (LD_PRELOAD) and asked by variables:
 *
 *   SSDLAB_FAULT=KIND:N     the N-th fails, from 1 on; KIND:N+ has all after it fail, too
 *   SSDLAB_FAULT_ARMED=1    counting begins when this variable is set: by setenv, and in its children from the start
 *   SSDLAB_FAULT_COUNTS=F   when the process that has set it ends, F gets a line "KIND COUNT" for each kind
 *
 * Writes and synchronisations count if they go to a regular file. "alloc" are the allocations of ssdlab's own library,
 * "memory" those of all others: of Python and of what it has loaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { ALLOC, MEMORY, WRITE, SYNC, NAME, THREAD, TMPFILE, KINDS };
static const char *const NAMES[KINDS] = {"alloc", "memory", "write", "sync", "name", "thread", "tmpfile"};

static _Atomic long counts[KINDS];
static _Atomic int armed;
static int is_first;
static int failing = -1;
static long nth;
static int and_after;

static int fails(enum kind kind) {
    if (!atomic_load_explicit(&armed, memory_order_relaxed))
        return 0;
    long at = atomic_fetch_add_explicit(&counts[kind], 1, memory_order_relaxed) + 1;
    return (int)kind == failing && (at == nth || (and_after && at > nth));
}

/* Where ssdlab's own library lies. */
static uintptr_t own_from, own_to;

static int find_own(struct dl_phdr_info *about, size_t size, void *with) {
    (void)size, (void)with;
    if (!strstr(about->dlpi_name, "ssdlab/_native"))
        return 0;
    for (int at = 0; at < about->dlpi_phnum; at++) {
        uintptr_t from = about->dlpi_addr + about->dlpi_phdr[at].p_vaddr;
        if (about->dlpi_phdr[at].p_flags & PF_X) {
            own_from = from;
            own_to = from + about->dlpi_phdr[at].p_memsz;
        }
    }
    return 1;
}

static void arm(void) {
    dl_iterate_phdr(find_own, NULL);
    atomic_store(&armed, 1);
}

__attribute__((constructor)) static void begin(void) {
    const char *asked = getenv("SSDLAB_FAULT");
    for (int kind = 0; asked && kind < KINDS; kind++) {
        size_t length = strlen(NAMES[kind]);
        if (strncmp(asked, NAMES[kind], length) == 0 && asked[length] == ':') {
            failing = kind;
            nth = atol(asked + length + 1);
            and_after = asked[strlen(asked) - 1] == '+';
        }
    }
    if (getenv("SSDLAB_FAULT_ARMED"))
        arm();
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("SSDLAB_FAULT_COUNTS");
    atomic_store(&armed, 0);
    if (!path || !is_first)
        return;
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    for (int kind = 0; to >= 0 && kind < KINDS; kind++)
        dprintf(to, "%s %ld\n", NAMES[kind], atomic_load(&counts[kind]));
}

/* The next definition of a function: the C library's. */
#define NEXT(name) \
    static __typeof__(name) *next; \
    if (!next) \
        next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

int setenv(const char *name, const char *value, int overwrite) {
    NEXT(setenv);
    int done = next(name, value, overwrite);
    if (strcmp(name, "SSDLAB_FAULT_ARMED") == 0) {
        is_first = 1;
        arm();
    }
    return done;
}

/* Memory. The C library's own names, since dlsym itself allocates. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void *none(void) {
    errno = ENOMEM;
    return NULL;
}

#define LACKS (fails((uintptr_t)__builtin_return_address(0) - own_from < own_to - own_from ? ALLOC : MEMORY))

void *malloc(size_t size) { return LACKS ? none() : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return LACKS ? none() : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return LACKS ? none() : __libc_realloc(old, size); }
void *memalign(size_t align, size_t size) { return LACKS ? none() : __libc_memalign(align, size); }
void *aligned_alloc(size_t align, size_t size) { return LACKS ? none() : __libc_memalign(align, size); }
int posix_memalign(void **to, size_t align, size_t size) {
    void *found = LACKS ? NULL : __libc_memalign(align, size);
    if (!found)
        return ENOMEM;
    *to = found;
    return 0;
}

/* Files. */
static int is_regular(int file) {
    struct stat about;
    return fstat(file, &about) == 0 && S_ISREG(about.st_mode);
}

static int is_full(int file) {
    if (!is_regular(file) || !fails(WRITE))
        return 0;
    errno = ENOSPC;
    return 1;
}

ssize_t write(int file, const void *from, size_t count) {
    NEXT(write);
    return is_full(file) ? -1 : next(file, from, count);
}
ssize_t pwrite64(int file, const void *from, size_t count, off64_t at) {
    NEXT(pwrite64);
    return is_full(file) ? -1 : next(file, from, count, at);
}
ssize_t pwrite(int file, const void *from, size_t count, off_t at) { return pwrite64(file, from, count, at); }
ssize_t writev(int file, const struct iovec *from, int count) {
    NEXT(writev);
    return is_full(file) ? -1 : next(file, from, count);
}

static int is_broken(int file) {
    if (!is_regular(file) || !fails(SYNC))
        return 0;
    errno = EIO;
    return 1;
}

int fsync(int file) {
    NEXT(fsync);
    return is_broken(file) ? -1 : next(file);
}
int fdatasync(int file) {
    NEXT(fdatasync);
    return is_broken(file) ? -1 : next(file);
}

static int has_no_room(void) {
    if (!fails(NAME))
        return 0;
    errno = ENOSPC;
    return 1;
}

int rename(const char *from, const char *to) {
    NEXT(rename);
    return has_no_room() ? -1 : next(from, to);
}
int renameat(int old, const char *from, int new, const char *to) {
    NEXT(renameat);
    return has_no_room() ? -1 : next(old, from, new, to);
}
int linkat(int old, const char *from, int new, const char *to, int flags) {
    NEXT(linkat);
    return has_no_room() ? -1 : next(old, from, new, to, flags);
}

/* File systems that know no file without a name. */
int open64(const char *path, int flags, ...) {
    NEXT(open64);
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if ((flags & O_TMPFILE) == O_TMPFILE && fails(TMPFILE)) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return next(path, flags, mode);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *about, void *(*work)(void *), void *with) {
    NEXT(pthread_create);
    return fails(THREAD) ? EAGAIN : next(thread, about, work, with);
}
