// What the main thread and a render thread say to each other. Only texts cross: the data stays
// JSON, so that copying it costs the main thread next to nothing, whatever it holds.
import type { RenderLimits } from './render-limits.ts';

export const PARTS = ['html', 'text'] as const;
export type Part = (typeof PARTS)[number];

export interface TemplateSource {
  html: string | null;
  text: string | null;
}

export interface RenderJob {
  source: TemplateSource;
  /** A JSON object as text. Null: the syntax is checked, nothing is rendered. */
  data: string | null;
}

/** Counted from 1, as Liquid counts: columns in UTF-16 units. */
export interface TemplatePosition {
  line: number;
  column: number;
}

/** What is wrong with a template, or with what became of it. */
export interface Flaw {
  part: Part;
  /** Ends without a full stop. */
  problem: string;
  /** Null when it concerns the part as a whole. */
  place: TemplatePosition | null;
}

export type RenderResult =
  /** Parts that the template lacks are null; all are when only the syntax was checked. */
  ({ kind: 'rendered' } & TemplateSource) | { kind: 'flawed'; flaw: Flaw };

/** As it goes over to a thread. */
export interface ThreadJob extends RenderJob {
  /** Of this job alone: a thread that is being killed must not write into the next one's. See progress.ts. */
  progress: SharedArrayBuffer;
}

export interface ThreadSettings {
  limits: RenderLimits;
}
