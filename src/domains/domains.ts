// Sending domains: registered with their own DKIM key pair, verified by their DNS records, revoked for good. The
// store's function that changes the state describes the states. Automatic re-checks are in recheck.ts.

import { type Clock, DAY_MS, MINUTE_MS } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import { isRefusal, type Refusal, refuse } from '../base/refusals.ts';
import type { Vault } from '../base/vault.ts';
import { createDkimKeyPair, type DkimKeyPair } from '../protocol/mail/dkim/dkim-key.ts';
import type { CheckReason, Domain, DomainCheck, DomainChecks, DomainVerdict } from '../store/domains.ts';
import type { Store } from '../store/store.ts';
import type { ApiKey } from '../store/tenants.ts';
import type { CheckTurns } from './check-turns.ts';
import {
  checkDomainRecords,
  type DnsRecordToPublish,
  type DomainFacts,
  recordsToPublish,
  type ServiceNames,
  type TxtLookups,
} from './checks.ts';
import { defaultSelector, domainNameProblem, selectorProblem } from './domain-name.ts';
import type { DomainNotices } from './domain-notices.ts';

/** The tenant, with the domain that its API key is restricted to, if any. */
export type DomainOwner = Pick<ApiKey, 'tenantId' | 'boundDomain'>;

export interface DomainsOptions {
  store: Pick<Store, 'domains'>;
  vault: Pick<Vault, 'seal'>;
  clock: Clock;
  ids: IdSource;
  /** Queries the zone's own name servers; each check has its own budget. */
  lookups: { limited(): TxtLookups };
  /** Shared by all parts that check domains. */
  turns: CheckTurns<DomainCheck[]>;
  service: ServiceNames & DomainRules;
  createKeyPair?: () => Promise<DkimKeyPair>;
  /** None for a command without a daemon, whose user sees what happens. */
  notices?: DomainNotices;
}

export interface DomainRules {
  /** The service's own names, which no tenant may register; lower case. */
  ownDomains: readonly string[];
  /** `limits.domains_per_tenant`. */
  maxPerTenant: number;
  /** `domains.recheck`. */
  rechecks: boolean;
}

export interface VerifiedDomain {
  domain: Domain;
  checks: DomainCheck[];
}

export interface Domains {
  register(owner: DomainOwner, request: { domain: string; selector?: string }): Promise<Domain | Refusal>;
  /** Oldest first, revoked ones included. */
  list(owner: DomainOwner): Promise<Domain[]>;
  get(owner: DomainOwner, id: string): Promise<Domain | Refusal>;
  verify(owner: DomainOwner, id: string): Promise<VerifiedDomain | Refusal>;
  revoke(owner: DomainOwner, id: string): Promise<Domain | Refusal>;
  /** For an open page: verified as soon as the record is found; until then nothing changes. */
  verifyIfFound(owner: DomainOwner, id: string): Promise<Domain | Refusal>;
  /**
   * Until when a domain without its record is re-checked automatically; null: it is not. While a page is open (as long as
   * its visitor's session lasts), a period that is over begins again, so that the page can promise it.
   */
  recheckedUntil(domain: Domain, isOpen: boolean): Promise<number | null>;
  /** The result of the last check of any kind. */
  lastChecks(owner: DomainOwner, id: string): Promise<DomainChecks | null>;
  recordsOf(domain: Domain): DnsRecordToPublish[];
}

export function createDomains(options: DomainsOptions): Domains {
  const { store, service } = options;

  /** A live domain that the owner may change. 404 comes before 403. */
  async function changeable(owner: DomainOwner, id: string): Promise<Domain | Refusal> {
    const domain = await store.domains.getDomain(owner.tenantId, id);
    if (!domain) return notFound();
    if (domain.state === 'revoked') return revoked(domain.name);
    if (owner.boundDomain !== null && owner.boundDomain !== domain.name) {
      return refuse('domain_not_allowed', `This key is restricted to ${owner.boundDomain}.`);
    }
    return domain;
  }

  return {
    register: (owner, request) => register(options, owner, request),
    list: (owner) => store.domains.listDomains(owner.tenantId),
    get: async (owner, id) => (await store.domains.getDomain(owner.tenantId, id)) ?? notFound(),
    async verify(owner, id) {
      const domain = await changeable(owner, id);
      return isRefusal(domain) ? domain : verify(options, domain);
    },
    async revoke(owner, id) {
      const domain = await changeable(owner, id);
      if (isRefusal(domain)) return domain;
      return (await store.domains.revokeDomain(owner.tenantId, id)) ?? notFound();
    },
    async verifyIfFound(owner, id) {
      const domain = await changeable(owner, id);
      if (isRefusal(domain) || domain.state === 'verified') return domain;
      const checks = await options.turns.takeNow(domain, () => checkAndKeep(options, domain));
      return checks === null || firstFailing(checks) ? domain : claim(options, domain);
    },
    recheckedUntil: (domain, isOpen) => recheckedUntil(options, domain, isOpen),
    lastChecks: (owner, id) => store.domains.lastChecks(owner.tenantId, id),
    recordsOf: (domain) => recordsToPublish(factsOf(domain), service),
  };
}

async function register(
  options: DomainsOptions,
  owner: DomainOwner,
  request: { domain: string; selector?: string },
): Promise<Domain | Refusal> {
  const { store, vault, clock, ids, service, createKeyPair = createDkimKeyPair } = options;
  const name = request.domain;
  const selector = request.selector ?? defaultSelector(clock.now());
  const nameFault = domainNameProblem(name, service.ownDomains);
  if (nameFault !== null) return refuse('validation_failed', `domain: ${nameFault}`);
  const selectorFault = selectorProblem(selector, name);
  if (selectorFault !== null) return refuse('validation_failed', `selector: ${selectorFault}`);
  if (owner.boundDomain !== null) {
    return refuse('domain_not_allowed', `This key is restricted to ${owner.boundDomain} and can't register domains.`);
  }
  const { tenantId } = owner;
  const refusalOf = async (why: 'exists' | 'too_many') =>
    why === 'too_many'
      ? tooManyDomains(service.maxPerTenant)
      : exists(name, await store.domains.findLiveDomain(tenantId, name), service.rechecks);
  // A key pair takes up to a second of a processor: none is made for what is refused.
  const early = await store.domains.refusesDomain(tenantId, name, service.maxPerTenant);
  if (early) return refusalOf(early);
  const { publicKeyB64, privateKeyDer } = await createKeyPair();
  const id = ids.next();
  const privateKey = vault.seal(privateKeyDer, domainKeyContext(id));
  const domain = { id, tenantId, name, selector, publicKeyB64, privateKey, createdAt: clock.now() };
  const created = await store.domains.createDomain(domain, service.maxPerTenant);
  return typeof created === 'string' ? refusalOf(created) : created;
}

/** Binds a sealed private key to its domain; opening it needs the same context. */
export function domainKeyContext(domainId: string): string {
  return `domain-key:${domainId}`;
}

/** After a call, automatic checks of the domain pause for so long. */
const QUIET_MS = 10 * MINUTE_MS;
// A tenant who has not published the record in two weeks has given up, or checks it later.
export const RECHECK_PERIOD_MS = 14 * DAY_MS;

async function recheckedUntil(options: DomainsOptions, domain: Domain, isOpen: boolean): Promise<number | null> {
  const { store, clock, service } = options;
  if (!service.rechecks) return null;
  const since = await store.domains.recheckedSince(domain.tenantId, domain.id);
  const now = clock.now();
  // It can be long over while one check is still due, after a long stop of the daemon.
  if (since !== null) return since + RECHECK_PERIOD_MS > now ? since + RECHECK_PERIOD_MS : null;
  if (!isOpen) return null;
  const nextAt = now + QUIET_MS;
  await store.domains.postponeRecheck(domain.tenantId, domain.id, nextAt);
  return nextAt + RECHECK_PERIOD_MS;
}

async function verify(options: DomainsOptions, domain: Domain): Promise<VerifiedDomain | Refusal> {
  await options.store.domains.postponeRecheck(domain.tenantId, domain.id, options.clock.now() + QUIET_MS);
  const checks = await options.turns.take(domain, () => checkAndKeep(options, domain));
  if (checks === null) return tooMany();
  const failing = firstFailing(checks);
  if (failing) return recordFailure(options, domain, failing);
  const verified = await claim(options, domain);
  return isRefusal(verified) ? verified : { domain: verified, checks };
}

export function checkOf({ lookups, service }: DomainsOptions, domain: Domain): Promise<DomainCheck[]> {
  return checkDomainRecords({ facts: factsOf(domain), service }, lookups.limited());
}

/** The same, and stores the result for people to read. */
async function checkAndKeep(options: DomainsOptions, domain: Domain): Promise<DomainCheck[]> {
  const checks = await checkOf(options, domain);
  await options.store.domains.recordChecks(domain.tenantId, domain.id, { at: options.clock.now(), checks });
  return checks;
}

/** SPF and DMARC are advice: only required records decide. */
export function firstFailing(checks: DomainCheck[]): DomainCheck | undefined {
  return checks.find((one) => one.required && !one.ok);
}

export function hasPassed(checks: DomainCheck[]): boolean {
  return firstFailing(checks) === undefined;
}

async function recordFailure({ store, clock }: DomainsOptions, domain: Domain, failing: DomainCheck): Promise<Refusal> {
  // A verified domain does not lose its state because a name server is down.
  const keepsState = domain.state === 'verified' && failing.reason === 'dns_unavailable';
  const verdict: DomainVerdict = { state: 'failed', failureReason: failing.reason, checkedAt: clock.now() };
  const recorded = keepsState || (await store.domains.recordVerdict(domain.tenantId, domain.id, verdict));
  if (!recorded) return notFound();
  return refuse('verification_failed', failing.message, { domain: domain.name, check: failing });
}

/** The record was found: verified, unless another tenant holds the name and its record is still published. */
export async function claim(options: DomainsOptions, domain: Domain): Promise<Domain | Refusal> {
  const { store, clock } = options;
  const record = () =>
    store.domains.recordVerdict(domain.tenantId, domain.id, {
      state: 'verified',
      failureReason: null,
      checkedAt: clock.now(),
    });
  const first = await record();
  if (first !== 'taken') return first ?? notFound();
  const holder = await store.domains.findVerifiedHolder(domain.name);
  if (holder && holder.id !== domain.id) {
    const gone = await definitelyGone(options, holder);
    if (gone === null) return stillPublished(domain.name);
    const won = await store.domains.takeOverDomain(domain, { id: holder.id, failureReason: gone }, clock.now());
    if (won) {
      options.notices?.takenOver(holder, won.lastCheckedAt ?? clock.now());
      return won;
    }
  }
  // The state was changed while DNS was queried: one more attempt decides by the new state.
  const second = await record();
  return second === 'taken' ? stillPublished(domain.name) : (second ?? notFound());
}

/** Why its record is not there; null: it is, or DNS does not say. */
async function definitelyGone(options: DomainsOptions, holder: Domain): Promise<CheckReason | null> {
  const failing = firstFailing(await checkOf(options, holder));
  return failing === undefined || failing.reason === 'dns_unavailable' ? null : failing.reason;
}

export function factsOf(domain: Domain): DomainFacts {
  return { domain: domain.name, selector: domain.selector, publicKeyB64: domain.publicKeyB64 };
}

/** About one interval of the zone. */
const RETRY_AFTER_SECS = 10;

function tooMany(): Refusal {
  const message = 'Several verifications of names in this zone are already waiting. Retry later.';
  return { ...refuse('internal_error', message), retryAfterSecs: RETRY_AFTER_SECS };
}

function notFound(): Refusal {
  return refuse('domain_not_found', 'Domain not found. GET /domains lists your domains.');
}

function revoked(name: string): Refusal {
  return refuse('domain_not_found', `Domain not found: ${name} is revoked. Register it anew with POST /domains.`);
}

function tooManyDomains(most: number): Refusal {
  const advice = 'Delete those that you no longer send from, or ask the operator of this service.';
  return refuse('validation_failed', `domain: your account has ${most} domains, which is the limit. ${advice}`);
}

// Without its record, that account's domain fails within 53 hours: a day, two pauses between misses, and their jitter.
const LEAVE_IT = 'remove the DKIM record of that account from your DNS and register it again three days later, or ';

/** At the registration: the caller has it, or somebody has verified it, of whom nothing is told. */
function exists(name: string, own: Domain | null, rechecks: boolean): Refusal {
  const advice =
    own === null
      ? `is verified by another account. If the name is yours, ${rechecks ? LEAVE_IT : ''}ask the operator of this service.`
      : own.state === 'verified'
        ? `is already registered and verified (ID ${own.id}): you can send from it.`
        : `is already registered (ID ${own.id}) and ${own.state}. Publish its records and verify it.`;
  return refuse('domain_exists', `domain: ${name} ${advice}`);
}

/** At a verification: its record was found, but that of the account that has the name is not known to be gone. */
function stillPublished(name: string): Refusal {
  return refuse(
    'domain_exists',
    `domain: ${name} is verified by another account, and its DKIM record is still in your DNS or can't be checked. If the name is yours, remove that record and verify again.`,
  );
}
