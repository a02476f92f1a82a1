// A tenant with one message that waits in the queue, made through the store's own verbs.
import type { OperatorServices } from '../../src/operator/operator-services.ts';
import type { NewWrittenMail } from '../../src/store/written-mails.ts';
import { createTenant } from '../../src/tenants/tenant-service.ts';

export interface WaitingMessage {
  tenantId: string;
  messageId: string;
}

interface Waiting {
  /** Then it is scheduled. */
  sendAt?: number | null;
  written?: NewWrittenMail;
}

export async function addWaitingMessage(
  services: OperatorServices,
  { sendAt = null, written }: Waiting = {},
): Promise<WaitingMessage> {
  const { store, ids, clock } = services;
  const made = await createTenant(services, { name: 'Sender', status: 'active' });
  if (made.kind === 'refused') throw new Error(made.message);
  const tenantId = made.tenant.id;
  const now = clock.now();
  const domainId = ids.next();
  const privateKey = { masterKeyId: 'none', sealed: Buffer.alloc(28) };
  const keys = { selector: 'pr', publicKeyB64: '', privateKey };
  const name = `${domainId}.example`;
  await store.domains.createDomain({ id: domainId, tenantId, name, ...keys, createdAt: now });
  await store.domains.recordVerdict(tenantId, domainId, { state: 'verified', failureReason: null, checkedAt: now });
  const messageId = ids.next();
  const recipient = { messageId, address: 'joe@receiver.example', name: null, domain: 'receiver.example' };
  const accepted = await store.submissions.accept({
    id: ids.next(),
    tenantId,
    apiKeyId: ids.next(),
    domainId,
    idempotencyKey: null,
    from: { address: `app@${name}`, name: null },
    subject: 'Hello',
    html: null,
    text: written ? null : 'Hello',
    headers: [],
    ...(written && { written }),
    recipients: [{ ...recipient, suppressionKey: 'joe@receiver.example' }],
    ...{ acceptedAt: now, sendAt, expiresAt: (sendAt ?? now) + 3_600_000 },
  });
  if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
  return { tenantId, messageId };
}
