// How the service's own records are judged: pure functions of what DNS says, shared by the doctor, which asks the
// configured resolvers, and by `postrider dns --check`, which asks the zones' own name servers.

import type { DnsResult } from '../protocol/dns/lookup/dns-result.ts';
import { checkDkimRecord, countPieces } from '../protocol/dns/published/dkim-record.ts';
import type { SpfResult } from '../protocol/dns/published/spf-of-address.ts';
import { isSpfRecord, parseSpfRecord } from '../protocol/dns/published/spf-record.ts';
import type { RecordVerdict } from './record-state.ts';

/** For each of our addresses, as receivers evaluate SPF. */
export interface SpfAnswer {
  ip: string;
  result: SpfResult;
}

export function judgeOwnSpf(record: DnsResult<string>, asked: readonly SpfAnswer[]): RecordVerdict {
  if (record.kind === 'unavailable') return unavailable(record.reason);
  const found = record.kind === 'found' ? record.records.filter(isSpfRecord) : [];
  if (found.length === 0) return { state: 'missing', message: 'has no SPF record' };
  if (found.length > 1) return wrong('has several SPF records, so receivers reject them all');
  const { invalidTerm } = parseSpfRecord(found[0]!);
  if (invalidTerm !== null) return wrong(`has "${invalidTerm.slice(0, 100)}", which is not valid SPF`);
  const refused = asked.filter(({ result }) => result.kind === 'not_pass').map(({ ip }) => ip);
  if (refused.length > 0) return wrong(`does not authorize ${refused.join(', ')}`);
  const unknown = asked.find(({ result }) => result.kind === 'unknown');
  if (unknown?.result.kind === 'unknown')
    return { state: 'unknown', message: `couldn't be checked for ${unknown.ip}: ${unknown.result.reason}` };
  if (asked.length === 0) {
    const message = 'has a record, but the sending addresses to compare it with are unknown';
    return { state: 'unknown', message };
  }
  return right(`authorizes ${asked.map(({ ip }) => ip).join(', ')}`);
}

export function judgeOwnDkim(record: DnsResult<string>, keyB64: string): RecordVerdict {
  if (record.kind === 'unavailable') return unavailable(record.reason);
  const texts = record.kind === 'found' ? record.records : [];
  const verdicts = texts.map((text) => checkDkimRecord(text, keyB64));
  const keys = verdicts.filter(({ kind }) => kind !== 'no_key_record');
  const [key] = keys;
  if (!key) return { state: 'missing', message: 'is not published: the second signature of every message is invalid' };
  const pieces = countPieces(texts, keyB64);
  if (pieces > 0)
    return wrong(`is in ${pieces} records with a part of the key each, which must be the strings of one record`);
  if (keys.length > 1) return wrong('is published more than once');
  if (key.kind === 'ok') return right('has our key');
  return wrong('problem' in key ? `is not valid: ${key.problem}` : 'is not a DKIM key record');
}

/** This domain can't exist (RFC 2606): an answer for it comes from a wildcard. */
const NONEXISTENT_DOMAIN = 'postrider-doctor.invalid';

/** Where the permission for any sender's reports is looked up. */
export function anySendersPermission(reportDomain: string): string {
  return `${NONEXISTENT_DOMAIN}._report._dmarc.${reportDomain}`;
}

export function isPermission(result: DnsResult<string>): boolean {
  return result.kind === 'found' && result.records.some((text) => /^v\s*=\s*DMARC1\s*(;|$)/.test(text.trim()));
}

export function judgePermission(result: DnsResult<string>): RecordVerdict {
  if (isPermission(result)) return right('accepts reports about every sending domain');
  if (result.kind === 'unavailable') return unavailable(result.reason);
  if (result.kind === 'found') return wrong('has another record, which permits no reports');
  return { state: 'missing', message: "receives no reports about tenants' domains: no record permits them" };
}

export function right(message: string): RecordVerdict {
  return { state: 'right', message };
}

export function wrong(message: string): RecordVerdict {
  return { state: 'wrong', message };
}

export function unavailable(reason: string): RecordVerdict {
  return { state: 'unknown', message: `couldn't be checked: ${reason}` };
}
