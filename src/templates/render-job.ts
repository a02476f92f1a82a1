// Messages between the main thread and a render thread. Only texts are sent: the data stays JSON, so that copying it
// costs the main thread next to nothing, whatever its content.
import type { MissingVariables } from './missing-variables.ts';
import type { RenderLimits } from './render-limits.ts';

export const PARTS = ['html', 'text', 'subject'] as const;
export type Part = (typeof PARTS)[number];

export interface TemplateSource {
  html: string | null;
  text: string | null;
  /** Left out or null: none. */
  subject?: string | null;
}

export interface RenderJob {
  source: TemplateSource;
  /** A JSON object as text. Null: only the syntax is checked, nothing is rendered. */
  data: string | null;
  /** Also lists what the template uses and the data does not have; no call needs that. */
  listsMissing?: boolean;
}

/** Counted from 1, as Liquid does: columns in UTF-16 units. */
export interface TemplatePosition {
  line: number;
  column: number;
}

/** What is wrong with a template, or with its output. */
export interface Flaw {
  part: Part;
  /** Without a full stop at its end. */
  problem: string;
  /** Null when it is about the part as a whole. */
  position: TemplatePosition | null;
}

export type RenderResult =
  /** Missing parts are null; all are when only the syntax was checked. */
  ({ kind: 'rendered'; missing?: MissingVariables } & TemplateSource) | { kind: 'flawed'; flaw: Flaw };

/** A job as it is sent to a thread. */
export interface ThreadJob extends RenderJob {
  /** Of this job alone: a thread that is being killed must not write into the next job's. See progress.ts. */
  progress: SharedArrayBuffer;
}

/** What a thread answers. */
export interface ThreadAnswer {
  result: RenderResult;
  /** What the job used; null: unknown, since it was killed. */
  processorMs: number | null;
}

export interface ThreadSettings {
  limits: RenderLimits;
}
