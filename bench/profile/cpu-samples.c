/* Makes V8's profiler sample by processor time instead of by the clock. A thread that waits, for the disk or for a
   processor, is then not sampled, and every sample stands for the same processor time. Built and put in front of the C
   library by sampler.ts (LD_PRELOAD).

   V8 has one sampling thread per JavaScript thread, which sends SIGPROF to it again and again. The first such call sets a
   timer on the other thread's processor clock that sends SIGPROF instead; V8's handler takes the sample as always. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

/* The kernel looks at these timers only at its ticks (every 1 to 10 ms): this is less than a tick, so each tick that
   finds the thread running is a sample. */
#define EVERY_NS 100000

static __thread int is_started;

static void start_timer(pthread_t thread) {
  clockid_t clock;
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
  struct itimerspec every = {{0, EVERY_NS}, {0, EVERY_NS}};
  if (pthread_getcpuclockid(thread, &clock) != 0) return;
  event._sigev_un._tid = ~(clock >> 3); /* how Linux makes such a clock's number from the thread's */
  if (timer_create(clock, &event, &timer) == 0) timer_settime(timer, 0, &every, NULL);
}

int pthread_kill(pthread_t thread, int number) {
  int (*next)(pthread_t, int) = (int (*)(pthread_t, int))dlsym(RTLD_NEXT, "pthread_kill");
  if (number != SIGPROF) return next(thread, number);
  if (!is_started) start_timer(thread);
  is_started = 1;
  return 0;
}

/* When V8 stops profiling it restores the default, by which a timer's last signal would end the process. */
int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
  int (*next)(int, const struct sigaction *, struct sigaction *) =
      (int (*)(int, const struct sigaction *, struct sigaction *))dlsym(RTLD_NEXT, "sigaction");
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  int is_default = number == SIGPROF && action != NULL && action->sa_handler == SIG_DFL;
  return next(number, is_default ? &ignore : action, old);
}
