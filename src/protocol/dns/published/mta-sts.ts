// MTA-STS (RFC 8461): the TXT record that announces a policy, the policy's text, and which MX hosts it allows. Formats
// only: mta-sts-fetch.ts fetches policies, and the courier applies them.
import { MINUTE_MS, SECOND_MS } from '../../../base/clock.ts';
import type { TlsPolicyMode } from '../../../base/outcome.ts';

export interface MtaStsPolicy {
  mode: TlsPolicyMode;
  maxAgeMs: number;
  /** Lower case; `*.` matches exactly one label. */
  mx: string[];
}

export type PolicyText = { ok: true; policy: MtaStsPolicy } | { ok: false; reason: string };

// RFC 8461 section 3.2 sets the maximum: about a year.
const MAX_AGE_S = 31_557_600;
// The RFC has no minimum. A policy that expires at once would be fetched again for every message.
const MIN_AGE_MS = 5 * MINUTE_MS;
// The largest policies in use list a dozen; what is stored per domain must be limited.
const MAX_PATTERNS = 100;

const ANNOUNCEMENT = /^v=STSv1[ \t]*;/;
const POLICY_ID = /^[A-Za-z0-9]{1,32}$/;
const MX_PATTERN =
  /^(?=.{1,253}$)(?:\*\.)?[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** Section 3.1: the policy ID in the records at `_mta-sts.<domain>`; null for none. */
export function announcedPolicyId(records: readonly string[]): string | null {
  const announcements = records.filter((record) => ANNOUNCEMENT.test(record));
  // Several records count as none.
  if (announcements.length !== 1) return null;
  const fields = announcements[0]!.split(';').map((field) => field.trim());
  const id = fields.find((field) => field.startsWith('id='))?.slice('id='.length);
  return id !== undefined && POLICY_ID.test(id) ? id : null;
}

/** Section 3.2. Unknown fields are ignored; of a repeated field other than `mx`, the first one counts. */
export function parsePolicy(text: string): PolicyText {
  const fields = new Map<string, string>();
  const mx = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, written] = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,31}):(.*)$/.exec(line) ?? [];
    if (name === undefined || written === undefined) continue;
    // Not in the pattern: for a policy full of spaces, matching them at the end would take seconds.
    const value = written.trim();
    if (name === 'mx') mx.add(value.toLowerCase().replace(/\.$/, ''));
    else if (!fields.has(name)) fields.set(name, value);
  }
  return checkPolicy(fields, [...mx]);
}

function checkPolicy(fields: Map<string, string>, mx: string[]): PolicyText {
  const mode = fields.get('mode');
  const maxAge = fields.get('max_age') ?? '';
  if (fields.get('version') !== 'STSv1') return refused('it does not say "version: STSv1"');
  if (mode !== 'none' && mode !== 'testing' && mode !== 'enforce') return refused('it has no valid "mode"');
  if (!/^\d{1,10}$/.test(maxAge)) return refused('it has no valid "max_age"');
  if (mode !== 'none' && mx.length === 0) return refused('it names no "mx"');
  if (mx.length > MAX_PATTERNS) return refused(`it names more than ${MAX_PATTERNS} "mx"`);
  if (!mx.every((pattern) => MX_PATTERN.test(pattern))) return refused('one of its "mx" entries is not a host name');
  const maxAgeMs = Math.max(Math.min(Number(maxAge), MAX_AGE_S) * SECOND_MS, MIN_AGE_MS);
  return { ok: true, policy: { mode, maxAgeMs, mx } };
}

function refused(reason: string): PolicyText {
  return { ok: false, reason };
}

/** Section 4.1; `host` in lower case without a final dot. */
export function namesMxHost(patterns: readonly string[], host: string): boolean {
  const parent = host.slice(host.indexOf('.') + 1);
  return patterns.some((pattern) => pattern === host || (parent !== host && pattern === `*.${parent}`));
}
