// What every group of the conformance suite starts from: a fresh store behind the contract,
// and short ways to tenants, domains and messages. Knows no driver and no SQL.
import { domainToASCII } from 'node:url';
import type { Test } from 'tap';
import { IdSource } from '../../../src/base/ids.ts';
import { noPeer } from '../../../src/base/outcome.ts';
import type { Domain, NewDomain } from '../../../src/store/domains.ts';
import type { EventType, NewEvent } from '../../../src/store/events.ts';
import type { InboundResult, InboundUpdate } from '../../../src/store/inbound.ts';
import type { Owner } from '../../../src/store/owners.ts';
import {
  type ClaimedMessage,
  type ClaimedUpdate,
  claimOf,
  type MessageDetail,
  type Transition,
} from '../../../src/store/queue.ts';
import type { PortalReads } from '../../../src/store/reads.ts';
import type { Store } from '../../../src/store/store.ts';
import type { AcceptResult, ContentReader, NewSubmission } from '../../../src/store/submissions.ts';
import type { ApiKey, Tenant } from '../../../src/store/tenants.ts';
import { takeFirstSlot } from '../../support/first-slot.ts';

/** A store over an empty database. The driver's test closes it and cleans up after it. */
export interface OpenedStore {
  store: Store;
  /** A courier's view of the same database. */
  openContents(): ContentReader;
  /** What the portal asks of the same database; only the driver's own test has it. */
  reads?(): PortalReads;
  /** Another handle on the same database, as another process has it; only the driver's own test has it. */
  openSecond?(): Promise<Store>;
}

export type OpenStore = (t: Test) => Promise<OpenedStore>;

/** The time at which everything in the suite begins. */
export const T0 = Date.UTC(2026, 0, 1);
export const LIFETIME_MS = 86_400_000;
/** When a claimed message is due again, counted from `now`: one minute for each attempt. */
export const DUE_AGAIN_STEP_MS = 60_000;

export function dueAgainFrom(now: number): number[] {
  return [1, 2, 3, 4, 5].map((attempt) => now + attempt * DUE_AGAIN_STEP_MS);
}

/** Whose claims never match. */
const NOBODY: Owner = { slot: 0, epoch: 0 };

export type Accepted = Extract<AcceptResult, { kind: 'accepted' }>;

export class Bench {
  readonly store: Store;
  readonly openContents: () => ContentReader;
  readonly reads: () => PortalReads;
  readonly openSecond: () => Promise<Store>;
  readonly #ids = new IdSource();
  #owner: Promise<Owner> | null = null;

  constructor(opened: OpenedStore) {
    this.store = opened.store;
    this.openContents = opened.openContents;
    this.reads = () => {
      if (!opened.reads) throw new Error('this test has opened no reads');
      return opened.reads();
    };
    this.openSecond = () => {
      if (!opened.openSecond) throw new Error('this test has no second handle');
      return opened.openSecond();
    };
  }

  id(): string {
    return this.#ids.next();
  }

  /** Who claims in the first slot; taken at the first call. */
  owner(): Promise<Owner> {
    this.#owner ??= takeFirstSlot(this.store);
    return this.#owner;
  }

  /** By the owner of the first slot. */
  async recordInbound(update: Omit<InboundUpdate, 'owner'>): Promise<InboundResult> {
    return this.store.inbound.recordInbound({ ...update, owner: await this.owner() });
  }

  async tenant(change: Partial<Tenant> = {}): Promise<Tenant> {
    const tenant: Tenant = {
      id: this.id(),
      name: 'Acme',
      status: 'active',
      statusReason: null,
      tier: '1k',
      tierPinned: false,
      openTracking: false,
      clickTracking: false,
      unsubscribe: false,
      bouncesDomain: null,
      createdAt: T0,
      ...change,
    };
    await this.store.tenants.createTenant(tenant);
    return tenant;
  }

  apiKey(tenantId: string, change: Partial<ApiKey> = {}): ApiKey {
    const id = this.id();
    return {
      id,
      tenantId,
      publicId: id.replaceAll('-', ''),
      name: 'a key',
      scopes: ['emails:send'],
      boundDomain: null,
      secretHash: Buffer.alloc(32, 7),
      createdAt: T0,
      revokedAt: null,
      ...change,
    };
  }

  newDomain(tenantId: string, name: string): NewDomain {
    return {
      id: this.id(),
      tenantId,
      name,
      selector: 'pr202601',
      publicKeyB64: 'cHVibGlj',
      privateKey: { masterKeyId: 'master1', sealed: Buffer.from('a sealed private key') },
      createdAt: T0,
    };
  }

  async pendingDomain(tenantId: string, name: string): Promise<Domain> {
    const domain = await this.store.domains.createDomain(this.newDomain(tenantId, name));
    if (typeof domain === 'string') throw new Error(`${name}: ${domain}`);
    return domain;
  }

  async verifiedDomain(tenantId: string, name: string): Promise<Domain> {
    const { id } = await this.pendingDomain(tenantId, name);
    const domain = await this.store.domains.recordVerdict(tenantId, id, {
      state: 'verified',
      failureReason: null,
      checkedAt: T0,
    });
    if (domain === null || domain === 'taken') throw new Error(`${name} cannot be verified`);
    return domain;
  }

  /** An active tenant with a verified domain. */
  async sender(domainName: string): Promise<{ tenant: Tenant; domain: Domain }> {
    const tenant = await this.tenant();
    return { tenant, domain: await this.verifiedDomain(tenant.id, domainName) };
  }

  submission(domain: Domain, to: string[], change: Partial<NewSubmission> = {}): NewSubmission {
    const acceptedAt = change.acceptedAt ?? T0;
    return {
      id: this.id(),
      tenantId: domain.tenantId,
      apiKeyId: this.id(),
      domainId: domain.id,
      idempotencyKey: null,
      from: { address: `news@${domain.name}`, name: 'News' },
      subject: 'Hello',
      html: '<p>Hello</p>',
      text: 'Hello',
      headers: [['X-Campaign', 'spring']],
      recipients: to.map((address) => ({
        messageId: this.id(),
        address,
        name: null,
        domain: domainToASCII(address.slice(address.lastIndexOf('@') + 1)),
        suppressionKey: address.toLowerCase(),
      })),
      acceptedAt,
      expiresAt: acceptedAt + LIFETIME_MS,
      ...change,
    };
  }

  async accept(domain: Domain, to: string[], change: Partial<NewSubmission> = {}): Promise<Accepted> {
    const result = await this.store.submissions.accept(this.submission(domain, to, change));
    if (result.kind !== 'accepted') throw new Error(`not accepted: ${result.kind}`);
    return result;
  }

  /** Keeps these pieces of a written mail, and returns what belongs to them in its submission. */
  async written(domain: Domain, pieces: readonly Buffer[], at = T0): Promise<Pick<NewSubmission, 'id' | 'written'>> {
    const id = this.id();
    for (const [position, bytes] of pieces.entries()) {
      await this.store.writtenMails.keepPiece({ tenantId: domain.tenantId, id, position, bytes, at });
    }
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    const header = Buffer.from(`From: news@${domain.name}\r\nSubject: Hello\r\n`);
    const facts = { header, pieces: pieces.length, bytes, bodyHash: 'a hash', eightBit: false };
    return { id, written: { source: 'smtp', ...facts, messageId: `${id}@${domain.name}` } };
  }

  /** One message that waits, and its lane. */
  async queued(domain: Domain, to: string, acceptedAt = T0): Promise<{ id: string; lane: number }> {
    const { receipt, lanes } = await this.accept(domain, [to], { acceptedAt });
    return { id: receipt.messageIds[0]!, lane: lanes[0]!.lane };
  }

  async claim(lane: number, now: number, limit = 100): Promise<ClaimedMessage[]> {
    return (await this.claimWithNext(lane, now, limit)).messages;
  }

  async claimWithNext(lane: number, now: number, limit = 100) {
    const owner = await this.owner();
    return this.store.queue.claim(lane, limit, { owner, now, dueAgainAt: dueAgainFrom(now) });
  }

  /** One message that is being sent. */
  async sending(domain: Domain, to: string, now = T0): Promise<ClaimedMessage> {
    const { id, lane } = await this.queued(domain, to, now);
    const claimed = await this.claim(lane, now);
    const message = claimed.find((one) => one.id === id);
    if (!message) throw new Error('the message was not claimed');
    return message;
  }

  event(type: EventType, data: Record<string, unknown> = {}): NewEvent {
    return { id: this.id(), type, at: T0, data };
  }

  update(
    message: Pick<ClaimedMessage, 'id' | 'tenantId'> & Partial<ClaimedMessage>,
    transition: Transition,
    change: Partial<ClaimedUpdate> = {},
  ): ClaimedUpdate {
    const { id: messageId, tenantId, owner = NOBODY, attempt = 0 } = message;
    const claim = claimOf({ owner, attempt });
    return { messageId, tenantId, at: T0 + 1000, claim, attempt: null, transition, event: null, ...change };
  }

  /** An update with the facts of an attempt, as couriers send it. */
  attempted(message: ClaimedMessage, transition: Transition, event: NewEvent | null = null): ClaimedUpdate {
    const outcome =
      transition.to === 'delivered' ? 'delivered' : transition.to === 'bounced' ? 'permanent' : 'temporary';
    const { id: messageId, tenantId, attempt } = message;
    const peer = noPeer('dot', 'a reply');
    return this.update(message, transition, {
      attempt: { messageId, tenantId, attempt, startedAt: T0, outcome, peer },
      event,
    });
  }

  async message(id: string): Promise<MessageDetail> {
    const message = await this.store.queue.getMessage(id);
    if (!message) throw new Error(`no message ${id}`);
    return message;
  }
}

/** Counts all that events and labels tell charts, in slices of so many. */
export async function countAll(store: Store, limit = 1000): Promise<void> {
  for (;;) {
    const tally = await store.figures.tallyNext(limit);
    if (tally.to === tally.from && tally.tags.to === tally.tags.from) break;
    await store.figures.addTally(tally);
  }
}

/** Runs each of the named cases over a store of its own. */
export function runCases(
  t: Test,
  openStore: OpenStore,
  cases: Record<string, (t: Test, bench: Bench) => Promise<void>>,
): void {
  for (const [name, run] of Object.entries(cases)) {
    t.test(name, async (t) => run(t, new Bench(await openStore(t))));
  }
}
