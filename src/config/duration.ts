// Durations as people write them in the configuration: a number and one unit, "72h".

const UNITS_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SHAPE = /^(\d{1,9})(ms|s|m|h|d)$/;

/** Milliseconds, or null when the text is not a duration. */
export function parseDuration(text: string): number | null {
  const match = SHAPE.exec(text);
  return match ? Number(match[1]) * UNITS_MS[match[2] as keyof typeof UNITS_MS] : null;
}

/** The shortest exact way to write it; 90 minutes are "90m". */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    // Up to 72 h in hours, beyond that in days.
    if (unit === 'd' && ms <= 72 * UNITS_MS.h) continue;
    if (ms % UNITS_MS[unit] === 0) return `${ms / UNITS_MS[unit]}${unit}`;
  }
  return `${ms}ms`;
}
