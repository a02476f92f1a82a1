// Mail that the service itself sends, to its operator and to tenants' owners: through the same queue as
// all mail, from postmaster of the bounce domain. For this the service has a tenant of its own, created
// on first use; its domain is that of the service's own DKIM signature.

import type { Clock } from '../base/clock.ts';
import { describeError, Fault } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import type { Vault } from '../base/vault.ts';
import type { Logger } from '../observe/log.ts';
import { parseAddress, suppressionKey } from '../protocol/mail/addresses/address.ts';
import type { Domain } from '../store/domains.ts';
import type { Store, StoreVerbs } from '../store/store.ts';
import type { LaneNotice, NewSubmission } from '../store/submissions.ts';
import type { SubmissionOptions } from './prepare-submission.ts';
import { NO_KEY } from './sender.ts';

export interface ServiceMail {
  to: string;
  subject: string;
  text: string;
  headers?: [name: string, value: string][];
  /** A second mail with the same key is not sent. */
  key: string;
}

export interface ServiceMailKit {
  store: Pick<Store, 'submissions' | 'domains'> &
    StoreVerbs<{ upkeep: 'contentDaysOf' | 'setContentDays'; tenants: 'createTenant' }>;
  vault: Vault;
  clock: Clock;
  ids: IdSource;
  bouncesDomain: string;
  dkim: { domain: string; selector: string; privateKeyDer: Buffer; publicKeyB64: string };
  lifetimeMs: number;
  onAccepted(lanes: LaneNotice[]): void;
  onStored?: SubmissionOptions['onStored'];
}

export type SendServiceMail = (mail: ServiceMail) => Promise<{ kind: 'queued' } | { kind: 'refused'; reason: string }>;

const MAX_SUBJECT_CHARACTERS = 200;
const TENANT_NAME = 'Postrider (mail of the service itself)';

export function createServiceMail(kit: ServiceMailKit): SendServiceMail {
  let domain: Promise<Domain> | null = null;
  return async (mail) => {
    const parsed = parseAddress(mail.to);
    if (!parsed.ok) return { kind: 'refused', reason: parsed.reason };
    domain ??= prepareDomain(kit).catch((error: unknown) => {
      domain = null;
      throw error;
    });
    const { id: domainId, tenantId } = await domain;
    const acceptedAt = kit.clock.now();
    const submission: NewSubmission = {
      id: kit.ids.next(),
      tenantId,
      apiKeyId: NO_KEY,
      domainId,
      idempotencyKey: mail.key,
      from: { address: `postmaster@${kit.bouncesDomain}`, name: 'Postrider' },
      subject: oneLine(mail.subject),
      html: null,
      text: mail.text,
      // RFC 3834 section 5: automatic responders must not answer it.
      headers: [['Auto-Submitted', 'auto-generated'], ...(mail.headers ?? [])],
      recipients: [
        {
          messageId: kit.ids.next(),
          address: mail.to,
          name: null,
          domain: parsed.address.asciiDomain,
          suppressionKey: suppressionKey(parsed.address),
        },
      ],
      acceptedAt,
      expiresAt: acceptedAt + kit.lifetimeMs,
      ofService: true,
    };
    const result = await kit.store.submissions.accept(submission);
    if (result.kind === 'accepted') {
      kit.onAccepted(result.lanes);
      kit.onStored?.({ submission, messageIds: result.receipt.messageIds, traceParent: undefined });
    }
    if (result.kind === 'accepted' || result.kind === 'replayed') return { kind: 'queued' };
    return { kind: 'refused', reason: REASONS[result.kind] };
  };
}

/** One mail to several people. */
export interface Notice {
  subject: string;
  text: string;
  /** A second notice with the same key is not sent. */
  key: string;
}

/**
 * Never rejects. True: all mails are queued, except those that are refused, which would be again. False: a fault came between;
 * repeated with the same key, it queues what is missing.
 */
export function notifyByMail(
  send: SendServiceMail,
  log: Logger,
): (to: readonly string[], notice: Notice) => Promise<boolean> {
  const notifyOne = async (to: string, notice: Notice) => {
    try {
      const result = await send({ ...notice, to, key: `${notice.key}:${to}` });
      if (result.kind === 'refused') log.warn({ reason: result.reason }, 'a notification could not be sent by mail');
      return true;
    } catch (error) {
      log.error({ error }, `notifications could not be sent by mail: ${describeError(error)}`);
      return false;
    }
  };
  return async (to, notice) => (await Promise.all(to.map((address) => notifyOne(address, notice)))).every(Boolean);
}

const REASONS = {
  all_suppressed: 'the address is on a suppression list',
  domain_not_verified: "the service's own domain is not verified",
  tenant_not_active: "the service's own tenant is not active",
  key_taken: 'a batch has used its idempotency key',
} as const;

/** A re-check would fail while its record is not published yet, and stop all mail of the service. */
const NEVER = Number.MAX_SAFE_INTEGER;

async function prepareDomain(kit: ServiceMailKit): Promise<Domain> {
  const domain = await findOrRegisterDomain(kit);
  await kit.store.domains.postponeRecheck(domain.tenantId, domain.id, NEVER);
  // Some of these mails contain links that set passwords: content is kept only until delivery ends.
  const days = await kit.store.upkeep.contentDaysOf(domain.tenantId);
  if (days === null) await kit.store.upkeep.setContentDays(domain.tenantId, 0);
  return domain;
}

/** When the key of the service's signature has changed, the domain is registered again. */
async function findOrRegisterDomain({ store, vault, clock, ids, dkim }: ServiceMailKit): Promise<Domain> {
  const holder = await store.domains.findVerifiedHolder(dkim.domain);
  if (holder?.publicKeyB64 === dkim.publicKeyB64 && holder.selector === dkim.selector) return holder;
  const tenantId = holder?.tenantId ?? ids.next();
  if (holder) await store.domains.revokeDomain(tenantId, holder.id);
  else {
    await store.tenants.createTenant({
      id: tenantId,
      name: TENANT_NAME,
      status: 'active',
      statusReason: null,
      tier: 'uncapped',
      tierPinned: true,
      openTracking: false,
      clickTracking: false,
      unsubscribe: false,
      bouncesDomain: null,
      createdAt: clock.now(),
    });
  }
  const id = ids.next();
  const privateKey = vault.seal(dkim.privateKeyDer, `domain-key:${id}`);
  const { domain: name, selector, publicKeyB64 } = dkim;
  await store.domains.createDomain({ id, tenantId, name, selector, publicKeyB64, privateKey, createdAt: clock.now() });
  // No DNS check is needed: the record must contain the key that the service signs with.
  const verdict = { state: 'verified', failureReason: null, checkedAt: clock.now() } as const;
  const domain = await store.domains.recordVerdict(tenantId, id, verdict);
  if (domain === null || domain === 'taken') throw new Fault("the service's own domain could not be registered");
  return domain;
}

/** RFC 5322 section 2.1.1 limits lines to 998 characters; a subject should be far shorter. */
function oneLine(subject: string): string {
  const line = subject.replace(/\p{Cc}+/gu, ' ').trim();
  return line.length > MAX_SUBJECT_CHARACTERS ? `${line.slice(0, MAX_SUBJECT_CHARACTERS)}…` : line || '(no subject)';
}
