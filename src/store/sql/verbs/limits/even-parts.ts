// How connections to a receiver are shared out: each node that wants some has an even part, and what one does not want of its
// part is the others'.
import { SECOND_MS } from '../../../../base/clock.ts';
import type { ConnectionWish } from '../../../limits.ts';

/** What a node has, and what it said that it wants. */
export interface Holder {
  node: string;
  connections: number;
  wanted: number;
}

/** With fewer connections than nodes that want one, they go round, and stay for so long. */
const TURN_MS = 20 * SECOND_MS;

/** All that it wants, but for what others have, and what they lack of their even part. */
export function goalOf(
  { node, limit, wanted }: Pick<ConnectionWish, 'node' | 'limit' | 'wanted'>,
  others: readonly Holder[],
  now: number,
): number {
  const wanting = [node, ...others.filter((one) => one.wanted > 0).map((one) => one.node)].sort();
  const turn = Math.floor(now / TURN_MS);
  const evenPart = (of: string) => {
    if (wanting.length <= limit) return Math.floor(limit / wanting.length);
    return (wanting.indexOf(of) + turn) % wanting.length < limit ? 1 : 0;
  };
  const reserved = others.map((one) => Math.max(one.connections, Math.min(one.wanted, evenPart(one.node))));
  return Math.min(wanted, Math.max(evenPart(node), limit - sumOf(reserved)));
}

export function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}
