// What the random walk expects of a store, in plain objects: tenants and what they send, what became of it, what
// webhooks are told, who is suppressed, and what came in. It knows the contract, and no SQL.
import type { BounceType } from '../../../src/base/outcome.ts';
import type { Domain } from '../../../src/store/domains.ts';
import type { EventType, NewEvent } from '../../../src/store/events.ts';
import type { HardBounceNote, MessageState } from '../../../src/store/queue.ts';
import type { PlatformSuppression, Suppression } from '../../../src/store/suppressions.ts';
import type { Tenant } from '../../../src/store/tenants.ts';
import type { EventChoice } from '../../../src/store/webhooks.ts';

export interface ModelMessage {
  id: string;
  tenantId: string;
  submissionId: string;
  domainId: string;
  lane: number;
  recipient: string;
  state: MessageState;
  bounce: BounceType | null;
  attempts: number;
  dueAt: number | null;
  expiresAt: number;
  parked: boolean;
  ambiguous: boolean;
  finishedAt: number | null;
  complained: boolean;
  /** Fetches of the pixel. */
  opens: { hits: number; lastEventAt: number | null };
  /** The attempts that have a result. */
  recorded: Set<number>;
}

export interface ModelSubmission {
  id: string;
  tenantId: string;
  idempotencyKey: string | null;
  messageIds: string[];
}

/** `over`: dropped, or erased with its content. */
export interface ModelWritten {
  id: string;
  tenantId: string;
  state: 'coming' | 'accepted' | 'over';
  since: number;
  pieces: Buffer[];
}

export interface ModelEvent {
  seq: number;
  id: string;
  tenantId: string;
  messageId: string;
  type: EventType;
}

export interface ModelDelivery {
  event: ModelEvent;
  state: 'due' | 'delivered' | 'failed';
  attempts: number;
  attemptsBefore: number;
  leased: boolean;
  dueAt: number | null;
  finishedAt: number | null;
}

export interface ModelWebhook {
  id: string;
  tenantId: string;
  target: string;
  /** Types and families; left out: every event. */
  events?: readonly EventChoice[];
  /** By the event's id. */
  deliveries: Map<string, ModelDelivery>;
}

export interface ModelInbound {
  id: string;
  seq: number;
  receivedAt: number;
  processedAt: number | null;
}

const FAMILIES = {
  'email.delivered': 'delivery',
  'email.deferred': 'delivery',
  'email.bounced': 'bounce',
  'email.failed': 'bounce',
  'email.canceled': 'delivery',
  'email.complained': 'complaint',
  'email.opened': 'open',
  'email.clicked': 'open',
} as const satisfies Record<EventType, EventChoice>;

export class Model {
  readonly tenants = new Map<string, Tenant>();
  readonly domains = new Map<string, Domain>();
  readonly submissions = new Map<string, ModelSubmission>();
  readonly messages = new Map<string, ModelMessage>();
  readonly webhooks = new Map<string, ModelWebhook>();
  readonly suppressions = new Map<string, Suppression>();
  readonly platform = new Map<string, PlatformSuppression>();
  readonly written = new Map<string, ModelWritten>();
  readonly inbound = new Map<string, ModelInbound>();
  readonly timers = new Map<string, { node: string; epoch: number; leaseUntil: number }>();
  /** In the order of their commits. */
  events: ModelEvent[] = [];
  /** The last one that each tenant ever had. */
  readonly newestEvents = new Map<string, string>();
  /** Webhooks that something became due for. */
  readonly due = new Set<string>();
  /** Events up to here are in the charts. */
  countedTo = 0;
  #lastSeq = 0;

  waiting(message: ModelMessage): boolean {
    return (message.state === 'queued' || message.state === 'deferred') && !message.parked;
  }

  openMessages(which: (message: ModelMessage) => boolean = () => true): number {
    return [...this.messages.values()].filter((each) => each.finishedAt === null && which(each)).length;
  }

  addEvent(message: ModelMessage, event: NewEvent): void {
    const { tenantId, id: messageId } = message;
    const added = { seq: ++this.#lastSeq, id: event.id, tenantId, messageId, type: event.type };
    this.events.push(added);
    this.newestEvents.set(added.tenantId, added.id);
    for (const webhook of this.webhooks.values()) {
      if (webhook.tenantId !== tenantId) continue;
      const { events } = webhook;
      if (events && !events.includes(event.type) && !events.includes(FAMILIES[event.type])) continue;
      webhook.deliveries.set(added.id, newDelivery(added, event.at));
      this.due.add(webhook.id);
    }
  }

  suppressionKey(tenantId: string, address: string): string {
    return `${tenantId} ${address}`;
  }

  suppress(tenantId: string, entry: Suppression): 'added' | 'exists' {
    const key = this.suppressionKey(tenantId, entry.address);
    const isTheirWish = ['unsubscribe', 'complaint'].includes(entry.reason) && entry.messageId !== null;
    const known = this.suppressions.get(key);
    if (known && !(isTheirWish && known.reason === 'hard_bounce')) return 'exists';
    this.suppressions.set(key, entry);
    return 'added';
  }

  suppressHardBounce(message: ModelMessage, at: number, note: HardBounceNote): void {
    const { suppressionKey: address, mxGroup, rule, platformExpiresAt: expiresAt, needsSecondTenant } = note;
    const entry = { address, messageId: message.id, createdAt: at };
    const group = mxGroup === null ? {} : { mxGroup };
    this.suppress(message.tenantId, { ...entry, reason: 'hard_bounce', rule, ...group });
    if (expiresAt === null) return;
    const isSaid = (one: Suppression) =>
      one.reason === 'hard_bounce' && one.messageId !== null && one.createdAt > 2 * at - expiresAt;
    const isOfAnother = ([key, one]: [string, Suppression]) =>
      one.address === address && !key.startsWith(message.tenantId) && isSaid(one) && !one.rule?.startsWith('route-');
    if (needsSecondTenant && ![...this.suppressions].some(isOfAnother)) return;
    const known = this.platform.get(address);
    if (known && known.messageId === null && known.expiresAt > at) return;
    this.platform.set(address, { ...entry, mxGroup, rule, expiresAt });
  }

  suppressionReason(tenantId: string, address: string, now: number): string | null {
    const own = this.suppressions.get(this.suppressionKey(tenantId, address));
    if (own) return own.reason;
    const platform = this.platform.get(address);
    return platform && platform.expiresAt > now ? 'hard_bounce' : null;
  }

  eraseWritten(submissionId: string): void {
    const written = this.written.get(submissionId);
    if (written) written.state = 'over';
  }

  /** A submission goes with the last of its messages. */
  eraseMessage(message: ModelMessage): void {
    const gone = new Set(this.events.filter(({ messageId }) => messageId === message.id).map(({ id }) => id));
    this.events = this.events.filter(({ id }) => !gone.has(id));
    for (const webhook of this.webhooks.values()) for (const id of gone) webhook.deliveries.delete(id);
    this.messages.delete(message.id);
    const submission = this.submissions.get(message.submissionId)!;
    submission.messageIds = submission.messageIds.filter((id) => id !== message.id);
    if (submission.messageIds.length > 0) return;
    this.submissions.delete(submission.id);
    this.eraseWritten(submission.id);
  }
}

export function newDelivery(event: ModelEvent, dueAt: number): ModelDelivery {
  return { event, state: 'due', attempts: 0, attemptsBefore: 0, leased: false, dueAt, finishedAt: null };
}
