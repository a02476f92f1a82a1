// Makes sure that the store has a domain's MTA-STS policy (RFC 8461) before mail for it is sent: couriers
// read it there. A failing policy host never removes a policy that is still valid, and delays mail once at
// most.

import { BoundedMap } from '../../base/bounded-map.ts';
import type { Clock } from '../../base/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { Resolver } from '../../protocol/dns/lookup/resolver.ts';
import { announcedPolicyId } from '../../protocol/dns/published/mta-sts.ts';
import type { PolicyFetch } from '../../protocol/dns/published/mta-sts-fetch.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { TlsPolicy } from '../../store/transport-security.ts';
import type { Routes } from './routes.ts';

export interface TransportPolicyKit {
  store: StoreVerbs<{ transportSecurity: 'findTlsPolicy' | 'putTlsPolicy' }>;
  resolver: Pick<Resolver, 'txt'>;
  fetch(domain: string): Promise<PolicyFetch>;
  clock: Clock;
  log: Logger;
  /** Aborted at the stop: fetches in progress are dropped silently. */
  signal?: AbortSignal;
}

export interface TransportPolicies {
  /** Resolves when the store's policy for the domain may be used to send mail. Never rejects. */
  refresh(domain: string): Promise<void>;
}

// Far more than the domains that announce a policy today; a policy takes some hundred bytes.
const MAX_POLICIES = 50_000;
// RFC 8461 section 5.1 asks for at least five minutes between two attempts for the same policy.
const RETRY_AFTER_MS = 5 * MINUTE_MS;
// Section 3.3: long before max_age ends, so that a policy host can be down for days.
const RENEW_AFTER_MS = DAY_MS;
const MAX_REMEMBERED_FAILURES = 10_000;
// Some name servers drop TXT queries: only the first message waits for that.
const ASK_DNS_AGAIN_AFTER_MS = 5 * MINUTE_MS;
// Each holds a socket and up to 64 KiB. Further policies are fetched for a later message.
const MAX_FETCHES = 200;

export interface Failure {
  policyId: string;
  at: number;
}

export interface PolicyStep {
  /** fetch: mail waits for it; renew: it does not. */
  decision: 'keep' | 'fetch' | 'renew';
  reason: string;
  until?: number;
}

/** What to do for a domain that announces a policy. */
export function decidePolicyStep(
  announcedId: string,
  known: TlsPolicy | null,
  failure: Failure | null,
  now: number,
): PolicyStep {
  const retryAt = failure?.policyId === announcedId ? failure.at + RETRY_AFTER_MS : null;
  if (retryAt !== null && retryAt > now) {
    return { decision: 'keep', reason: 'it could not be fetched a moment ago', until: retryAt };
  }
  if (known === null) {
    // A policy host that has failed before delays no more mail.
    const decision = retryAt === null ? 'fetch' : 'renew';
    return { decision, reason: 'the domain announces a policy, and none is known that is still valid' };
  }
  if (known.policyId !== announcedId) {
    const decision = retryAt === null ? 'fetch' : 'renew';
    return { decision, reason: 'the domain announces another policy than the one that is known' };
  }
  const renewAt = Math.min(known.fetchedAt + RENEW_AFTER_MS, (known.fetchedAt + known.expiresAt) / 2);
  if (renewAt > now) return { decision: 'keep', reason: 'the policy is known and fresh', until: renewAt };
  return { decision: 'renew', reason: 'the policy is known, and is renewed before it ends' };
}

export function createTransportPolicies(kit: TransportPolicyKit): TransportPolicies {
  const fetcher = new PolicyFetcher(kit);
  return { refresh: (domain) => fetcher.refresh(domain) };
}

class PolicyFetcher {
  readonly #kit: TransportPolicyKit;
  readonly #failures = new BoundedMap<string, Failure>(MAX_REMEMBERED_FAILURES);
  readonly #silentUntil = new BoundedMap<string, number>(MAX_REMEMBERED_FAILURES);
  readonly #fetching = new Map<string, Promise<void>>();

  constructor(kit: TransportPolicyKit) {
    this.#kit = kit;
  }

  async refresh(domain: string): Promise<void> {
    try {
      await this.#refresh(domain);
    } catch (error) {
      // The couriers use what the store has; the next message tries again.
      this.#kit.log.error({ error, domain }, `the MTA-STS policy could not be looked up: ${describeError(error)}`);
    }
  }

  async #refresh(domain: string): Promise<void> {
    const { store, resolver, clock } = this.#kit;
    const silentUntil = this.#silentUntil.get(domain);
    if (silentUntil !== undefined && silentUntil > clock.now()) return;
    const found = await resolver.txt(`_mta-sts.${domain}`);
    if (found.kind === 'unavailable') this.#silentUntil.set(domain, clock.now() + ASK_DNS_AGAIN_AFTER_MS);
    const announcedId = found.kind === 'found' ? announcedPolicyId(found.records) : null;
    // Section 5.1: without an announcement, a known policy stays in force until it expires.
    if (announcedId === null) return;
    const known = await store.transportSecurity.findTlsPolicy(domain, clock.now());
    const step = decidePolicyStep(announcedId, known, this.#failures.get(domain) ?? null, clock.now());
    if (step.decision === 'keep') return;
    const fetching = this.#fetchOnce(domain, announcedId);
    if (step.decision === 'fetch') await fetching;
  }

  #fetchOnce(domain: string, policyId: string): Promise<void> {
    const running = this.#fetching.get(domain);
    if (running) return running;
    if (this.#fetching.size >= MAX_FETCHES) return Promise.resolve();
    const fetching = this.#fetch(domain, policyId)
      .catch((error) => this.#kit.log.error({ error, domain }, `a policy was not stored: ${describeError(error)}`))
      .finally(() => this.#fetching.delete(domain));
    this.#fetching.set(domain, fetching);
    return fetching;
  }

  async #fetch(domain: string, policyId: string): Promise<void> {
    const { store, fetch, clock, log, signal } = this.#kit;
    const fetched = await fetch(domain);
    if (signal?.aborted) return;
    const now = clock.now();
    if (fetched.kind === 'failed') {
      this.#failures.set(domain, { policyId, at: now });
      log.warn({ domain, policy_id: policyId, reason: fetched.reason }, 'the MTA-STS policy could not be fetched');
      return;
    }
    const { mode, mx, maxAgeMs } = fetched.policy;
    await store.transportSecurity.putTlsPolicy(
      { domain, policyId, mode, mx, fetchedAt: now, expiresAt: now + maxAgeMs },
      MAX_POLICIES,
    );
    this.#failures.delete(domain);
    log.info({ domain, policy_id: policyId, mode, mx }, 'MTA-STS policy fetched');
  }
}

/** Routes that are returned only when their domain's policy is known. */
export function withPolicies(routes: Routes, policies: TransportPolicies): Routes {
  return {
    ...routes,
    async find(domain) {
      const [route] = await Promise.all([routes.find(domain), policies.refresh(domain)]);
      return route;
    },
  };
}
