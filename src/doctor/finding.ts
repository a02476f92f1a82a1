// The result of one check: ok, warn or fail, a message, and how to fix it.
import type { PlainRecord } from '../domains/needed-records.ts';

export type Health = 'ok' | 'warn' | 'fail';

/** The exact record to publish, in place of the one that is there or `beside` those, or the exact command or setting. */
export type Remedy =
  | { record: PlainRecord; beside?: true }
  | { command: string }
  | { setting: string }
  | { advice: string };

export interface Finding {
  /** What was checked: `outbound port`, `reverse name`. */
  check: string;
  /** What it was checked for: an address, a name, a file. */
  subject: string;
  health: Health;
  message: string;
  remedy: Remedy | null;
}

type About = Pick<Finding, 'check' | 'subject'>;

export function fine(about: About, message: string): Finding {
  return { ...about, health: 'ok', message, remedy: null };
}

export function warning(about: About, message: string, remedy: Remedy | null = null): Finding {
  return { ...about, health: 'warn', message, remedy };
}

export function wrong(about: About, message: string, remedy: Remedy | null = null): Finding {
  return { ...about, health: 'fail', message, remedy };
}

export function worstOf(findings: readonly Finding[]): Health {
  const all = new Set(findings.map(({ health }) => health));
  if (all.has('fail')) return 'fail';
  return all.has('warn') ? 'warn' : 'ok';
}

/** A record to publish. TXT values longer than 255 octets are split by the DNS provider. */
export function publish({ name, type, value }: PlainRecord): Remedy {
  return { record: { name, type, value } };
}

/** What is there is right for others. */
export function publishBeside({ name, type, value }: PlainRecord): Remedy {
  return { record: { name, type, value }, beside: true };
}
