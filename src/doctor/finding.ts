// What the doctor says of one thing: fine, odd or wrong, in a sentence, and what mends it.

export type Health = 'ok' | 'warn' | 'fail';

export interface DnsRecordAdvice {
  name: string;
  type: 'A' | 'AAAA' | 'MX' | 'PTR' | 'TXT';
  value: string;
}

/** The exact record to publish, or the exact command or setting; null when nothing is to be done. */
export type Remedy = { record: DnsRecordAdvice } | { command: string } | { setting: string } | { advice: string };

export interface Finding {
  /** What was looked at: `outbound port`, `reverse name`. */
  check: string;
  /** Of whom: an address, a name, a file. */
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

/** A name in our own domains, an address of ours: TXT records longer than 255 octets are split by whoever publishes them. */
export function publish(name: string, type: DnsRecordAdvice['type'], value: string): Remedy {
  return { record: { name, type, value } };
}
