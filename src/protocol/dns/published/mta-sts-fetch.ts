// Fetches an MTA-STS policy over HTTPS (RFC 8461 section 3.3): certificate verified, no redirects, limited in size and
// time. It connects to the address that was checked.
import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { PeerCertificate } from 'node:tls';
import { SECOND_MS } from '../../../base/clock.ts';
import { describeError, Fault } from '../../../base/errors.ts';
import type { AddressPolicy } from '../addresses/address-policy.ts';
import type { Resolver } from '../lookup/resolver.ts';
import { type MtaStsPolicy, parsePolicy } from './mta-sts.ts';

export interface PolicyFetchOptions {
  resolver: Pick<Resolver, 'a' | 'aaaa'>;
  /** 443 except in tests. */
  port: number;
  /** Trusted roots in PEM; Node's own by default. */
  ca?: string | undefined;
  /** Needed because the owner of the recipients' domain chooses the address. */
  addresses: AddressPolicy;
  timeoutMs?: number;
  /** Aborts the fetch. */
  signal?: AbortSignal;
}

export type PolicyFetch = { kind: 'policy'; policy: MtaStsPolicy } | { kind: 'failed'; reason: string };

// RFC 8461 section 3.3 suggests a minute; but mail waits for it, and a policy host that needs longer is down.
const TIMEOUT_MS = 10 * SECOND_MS;
// The size that section 3.3 suggests.
const MAX_BYTES = 64 * 1024;
const MAX_TRIED_ADDRESSES = 3;
const POLICY_PATH = '/.well-known/mta-sts.txt';

export async function fetchPolicy(domain: string, options: PolicyFetchOptions): Promise<PolicyFetch> {
  const host = `mta-sts.${domain}`;
  const timeout = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
  const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
  const failed = (why: string): PolicyFetch => ({ kind: 'failed', reason: `https://${host}${POLICY_PATH}: ${why}` });
  const found = await findAddresses(host, options);
  if (!found.ok) return failed(found.why);
  let why = '';
  for (const ip of found.ips.slice(0, MAX_TRIED_ADDRESSES)) {
    const answer = await get({ ...options, host, ip, signal });
    if (answer.kind === 'text') {
      const parsed = parsePolicy(answer.text);
      return parsed.ok ? { kind: 'policy', policy: parsed.policy } : failed(parsed.reason);
    }
    why = answer.why;
    if (signal.aborted || answer.kind === 'refused') break;
  }
  return failed(why);
}

async function findAddresses(
  host: string,
  { resolver, addresses }: PolicyFetchOptions,
): Promise<{ ok: true; ips: string[] } | { ok: false; why: string }> {
  const results = await Promise.all([resolver.a(host), resolver.aaaa(host)]);
  const all = results.flatMap((result) => (result.kind === 'found' ? result.records : []));
  const ips = all.filter((ip) => addresses.allows(ip));
  if (ips.length > 0) return { ok: true, ips };
  const refusal = all.length > 0 ? addresses.refusal(all[0]!) : null;
  if (refusal !== null) return { ok: false, why: `its address is not allowed: ${refusal.fact} (${refusal.key})` };
  const outage = results.find((result) => result.kind === 'unavailable');
  return { ok: false, why: outage?.kind === 'unavailable' ? outage.reason : 'the host has no address' };
}

type Answer =
  | { kind: 'text'; text: string }
  /** No response: another address may work. */
  | { kind: 'unreachable'; why: string }
  | { kind: 'refused'; why: string };

interface Target extends PolicyFetchOptions {
  host: string;
  ip: string;
  signal: AbortSignal;
}

function get({ host, ip, port, ca, signal }: Target): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const request = httpsRequest({
    host: ip,
    port,
    path: POLICY_PATH,
    servername: host,
    signal,
    headers: { host: port === 443 ? host : `${host}:${port}`, accept: 'text/plain' },
    // A new connection, since a pooled one might have been opened under another policy.
    agent: false,
    rejectUnauthorized: true,
    checkServerIdentity: (_name, certificate) => refuseIdentity(host, certificate),
    ...(ca !== undefined && { ca }),
  });
  const fail = (error: unknown) => {
    const why = signal.aborted ? 'no answer in time' : describeError(error);
    resolve({ kind: 'unreachable', why });
  };
  request.on('error', fail);
  request.on('response', (response) => {
    readText(response)
      .then(resolve, fail)
      .finally(() => request.destroy());
  });
  request.end();
  return promise;
}

/** Section 3.3 requires a DNS-ID (RFC 6125): a common name does not count, nor does a partial wildcard. */
function refuseIdentity(host: string, certificate: PeerCertificate): Error | undefined {
  const rules = { subject: 'never', partialWildcards: false, multiLabelWildcards: false } as const;
  if (new X509Certificate(certificate.raw).checkHost(host, rules) !== undefined) return undefined;
  return new Fault(`the certificate is not valid for ${host}`);
}

async function readText(response: IncomingMessage): Promise<Answer> {
  const refused = (why: string): Answer => ({ kind: 'refused', why });
  const mediaType = (response.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  // Section 3.3: redirects are not followed.
  if (response.statusCode !== 200) return refused(`answered with status ${response.statusCode}`);
  // Section 3.2: so that an upload to a web server that serves any file cannot plant a policy.
  if (mediaType !== 'text/plain') return refused('the answer is not text/plain');
  const chunks: Buffer[] = [];
  let octets = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    octets += chunk.length;
    if (octets > MAX_BYTES) return refused(`the policy is larger than ${MAX_BYTES / 1024} KiB`);
    chunks.push(chunk);
  }
  return { kind: 'text', text: Buffer.concat(chunks).toString('utf8') };
}
