// The results for all addresses of a domain's MX hosts when no session was established: for people, and for the one
// verdict that needs all of them: the domain accepts no mail (RFC 7504: 521 as greeting; RFC 3463: X.3.2 "system not
// accepting network messages").
import { isIPv6 } from 'node:net';
import type { TriedHost } from '../../base/outcome.ts';
import { replyLine } from './reply.ts';

/** The most addresses that a sentence lists. */
const MAX_NAMED = 8;
const MAX_WORDS_CHARS = 200;

/**
 * Whether the host said that it accepts no mail at all. A 521 for reasons of policy is about the sender: block lists
 * use it.
 */
export function takesNoMail({
  stage,
  smtpCode,
  enhancedCode,
}: Pick<TriedHost, 'stage' | 'smtpCode' | 'enhancedCode'>): boolean {
  if (stage !== 'greeting' || smtpCode === null || smtpCode < 500) return false;
  return enhancedCode === '5.3.2' || (smtpCode === 521 && !enhancedCode?.startsWith('5.7.'));
}

/** Each of the hosts, by at least one of its addresses. */
export function allTakeNoMail(tried: readonly TriedHost[]): boolean {
  const byHost = [...Map.groupBy(tried, ({ mx }) => mx).values()];
  return byHost.length > 0 && byHost.every((addresses) => addresses.some(takesNoMail));
}

/** Such as `mx1.test (192.0.2.1:25): connect: ECONNREFUSED; mx2.test (192.0.2.2:25) said at greeting: 421 Busy`. */
export function whatWasTried(tried: readonly TriedHost[]): string {
  const named = tried.slice(0, MAX_NAMED).map(triedText);
  const more = tried.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function triedText(host: TriedHost): string {
  return `${host.mx} (${hostAndPort(host)})${host.smtpCode === null ? '' : ` said at ${host.stage}`}: ${wordsOf(host)}`;
}

export function hostAndPort({ ip, port }: Pick<TriedHost, 'ip' | 'port'>): string {
  return isIPv6(ip) ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function wordsOf({ smtpCode, enhancedCode, response }: TriedHost): string {
  const words = replyLine(smtpCode, enhancedCode, response);
  return words.length > MAX_WORDS_CHARS ? `${words.slice(0, MAX_WORDS_CHARS)}…` : words;
}
