// One clock for all processes of a run: CLOCK_MONOTONIC counts from the start of the machine, so
// a time noted by the sink can be compared with one noted by the load generator.

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
