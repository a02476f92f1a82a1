// One thing that happened to a message, as its page shows it.
import type { Html } from '../../http/html.ts';
import type { Tone } from '../elements.ts';

export interface TimelineEntry {
  at: number;
  tone: Tone;
  title: string;
  /** A sentence or a reply, as it came from elsewhere. */
  reason: string | null;
  facts: [name: string, value: string | Html][];
  /** Of a page that says more. */
  path?: string;
}
