// What a thread has used of the processors: other programs do not change it as they change the time on the clock.

/** Milliseconds that this thread has used since it began. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
