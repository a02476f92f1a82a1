// What a share of complaints means: Gmail and Yahoo ask bulk senders to stay below 0.1 %, and never to reach
// 0.3 % (their sender guidelines, in force since February 2024).
import type { Figures } from '../../store/figures.ts';
import type { Tone } from '../elements.ts';

export const WATCH_RATE = 0.001;
export const STOP_RATE = 0.003;

/** Of what was delivered; null when nothing was. */
export function complaintRate({ complained, delivered }: Pick<Figures, 'complained' | 'delivered'>): number | null {
  return delivered === 0 ? null : complained / delivered;
}

export function judgeRate(rate: number | null): { tone: Tone; words: string } {
  if (rate === null) return { tone: 'quiet', words: 'none delivered' };
  if (rate >= STOP_RATE) return { tone: 'bad', words: '0.3 % or more' };
  if (rate >= WATCH_RATE) return { tone: 'warn', words: 'above 0.1 %' };
  return { tone: 'good', words: 'below 0.1 %' };
}

export function percentText(share: number | null): string {
  if (share === null) return '–';
  const percent = share * 100;
  // Nearly all is not all.
  if (percent > 99 && percent < 100) return `${Math.min(99.9, Number(percent.toFixed(1)))} %`;
  const digits = percent >= 10 ? 0 : percent >= 1 ? 1 : percent >= 0.1 ? 2 : 3;
  return `${Number(percent.toFixed(digits))} %`;
}
