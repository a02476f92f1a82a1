// Whether memory grows with the number of calls. Caches fill and the heap finds its size in the
// first part of a run, so that part is left out; what is compared are the least of two spans,
// for a single measurement may fall into a busy moment.
import type { Measurement } from './run-fuzz.ts';

const MIB = 1024 * 1024;
/** Noise, as seen over many runs. A leak of 1 KiB a call shows in 200,000 calls, not in 20,000. */
const RESIDENT_NOISE_BYTES = 96 * MIB;
const HEAP_NOISE_BYTES = 12 * MIB;

/** Null when it does not grow. */
export function growthProblem(memory: readonly Measurement[]): string | null {
  const settled = memory.slice(Math.floor(memory.length / 3));
  const half = Math.floor(settled.length / 2);
  if (half < 1) return null;
  const growth = (field: 'rssBytes' | 'heapBytes') => {
    const least = (span: readonly Measurement[]) => Math.min(...span.map((one) => one[field]));
    return least(settled.slice(-half)) - least(settled.slice(0, half));
  };
  const [resident, heap] = [growth('rssBytes'), growth('heapBytes')];
  if (resident <= RESIDENT_NOISE_BYTES && heap <= HEAP_NOISE_BYTES) return null;
  return `memory grew by ${Math.round(resident / MIB)} MiB resident, ${Math.round(heap / MIB)} MiB on the heap`;
}
