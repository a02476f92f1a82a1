// How single measurements are spread: a mean would hide what the slowest one in a hundred waits.

export interface Spread {
  p50: number;
  p99: number;
  count: number;
}

export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) return { p50: Number.NaN, p99: Number.NaN, count: 0 };
  const sorted = Float64Array.from(values).sort();
  // Nearest rank: a figure that was really measured, never one in between.
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
  return { p50: at(0.5), p99: at(0.99), count: sorted.length };
}
