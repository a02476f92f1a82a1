// What processing a mail needs, with a store that knows one message: the real reader and rules, and nothing is written.
import { systemClock } from '../../src/base/clock.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import type { ProcessKit } from '../../src/inbound/process-mail.ts';
import type { RecipientBook } from '../../src/inbound/recipients.ts';
import { makeReturnPath } from '../../src/protocol/mail/addresses/return-path.ts';
import { readInboundMail } from '../../src/protocol/mail/inbound/read-inbound-mail.ts';
import type { ReportedMessage, WaitingInboundMail } from '../../src/store/inbound.ts';

const ID = '01234567-89ab-7def-8123-456789abcdef';
const KEY = { id: 'a', key: Buffer.alloc(32, 7) };
export const RETURN_PATH = `${makeReturnPath(ID, KEY)}@bounces.test`;

export const BOOK: RecipientBook = {
  bouncesDomain: 'bounces.test',
  ehloName: 'mail.postrider.test',
  dmarcReportAddress: 'dmarc@bounces.test',
  tokenKeys: () => KEY.key,
};

export const MESSAGE: ReportedMessage = {
  ...{
    id: ID,
    tenantId: 't',
    submissionId: 's',
    recipient: 'ann@rcpt.test',
    from: 'a@b.test',
    fromDomain: 'b.test',
    labels: null,
  },
  ...{ subject: 'x', state: 'delivered', attempts: 1, createdAt: 1, mxGroup: null, bouncesDomain: null },
};

/** `message` null: it is no longer stored. */
export function processKit(message: Partial<ReportedMessage> | null, change: Partial<ProcessKit> = {}): ProcessKit {
  return {
    clock: systemClock,
    ids: { next: () => ID },
    rules: loadBounceRules(SHIPPED_RULES),
    recipients: BOOK,
    tokenKeys: BOOK.tokenKeys,
    platformSuppressionMs: 1,
    read: readInboundMail,
    doubtOf: () => null,
    store: { inbound: { findReported: async () => message && { ...MESSAGE, ...message } } },
    ...change,
  } as unknown as ProcessKit;
}

/** A mail without a sender, at the return path of the message. */
export function waitingMail(content: string, change: Partial<WaitingInboundMail> = {}): WaitingInboundMail {
  return {
    ...{ seq: 1, slot: 1, tries: 0, id: ID, receivedAt: 1, remoteIp: '192.0.2.1', ehloName: 'mx.test', tls: null },
    mailFrom: '',
    recipients: [RETURN_PATH],
    content: Buffer.from(content),
    ...change,
  };
}
