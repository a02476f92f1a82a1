// inbound list | show | retry: mail that came in, what it was taken for, what it has led to, and why.
import { toTimestamp } from '../../base/clock.ts';
import { type Answer, done, failed } from '../../operator/answer.ts';
import { INBOUND_EFFECTS, INBOUND_KINDS, type InboundMailRecord, type RetriedInbound } from '../../store/inbound.ts';
import { storeCommand } from '../command.ts';
import { flag, oneOf, positional, remark, required, uuid, wholeNumber } from '../option.ts';
import { recordAct } from '../record-act.ts';
import { type Column, renderFacts, renderTable } from '../table.ts';

const DEFAULT_LIMIT = 100;
export const inboundList = storeCommand({
  name: 'inbound list',
  summary: 'Lists received mail, newest first: bounces, complaints, human mail, and rejected mail.',
  options: {
    kind: oneOf('KIND', INBOUND_KINDS, 'only mail of this kind'),
    effect: oneOf('EFFECT', INBOUND_EFFECTS, 'only mail with this result'),
    message: uuid('ID', 'only mail about this message'),
    before: uuid('ID', 'start after this mail'),
    limit: wholeNumber('N', { min: 1, max: 10_000 }, `maximum number of entries; default: ${DEFAULT_LIMIT}`),
  },
  async run({ store }, { kind, effect, message, before, limit }) {
    const mails = await store.inbound.listInbound({
      ...(kind && { kind }),
      ...(effect && { effect }),
      ...(message && { messageId: message }),
      ...(before && { before }),
      limit: limit ?? DEFAULT_LIMIT,
    });
    if (mails === 'unknown') return failed(`there is no inbound mail ${before}`);
    // What came in about it may be kept for longer than the message.
    if (mails.length === 0 && message && !(await store.queue.getMessage(message))) {
      return failed(`there is no message ${message}`);
    }
    return done({ mails: mails.map(shownMail) });
  },
  render: ({ mails }) => renderTable(mails, COLUMNS, 'No mail has been received.'),
});

export const inboundShow = storeCommand({
  name: 'inbound show',
  summary: 'Shows one received mail; with --raw, its source.',
  options: {
    id: required(positional(uuid('ID', 'the mail'))),
    raw: flag('print the mail byte for byte as received; base64 with --json'),
  },
  async run({ store }, { id, raw }): Promise<Answer<ShownMail & { raw_base64: string | null }>> {
    const found = await store.inbound.getInbound(id);
    if (!found) return failed(`there is no inbound mail ${id}`);
    if (!raw) return done({ ...shownMail(found.mail), raw_base64: null });
    if (found.mail.kind === 'refused')
      return failed(`${id} was rejected, so its content was not kept: ${found.mail.reason}`);
    if (found.content === null) return failed(`the content of ${id} is not kept any more: ${found.mail.reason}`);
    return done({ ...shownMail(found.mail), raw_base64: found.content.toString('base64') });
  },
  render: ({ raw_base64: _, finding, ...facts }) => renderFacts([...linesOf(facts), ...linesOf(finding ?? {})]),
  octets: ({ raw_base64: raw }) => (raw === null ? null : Buffer.from(raw, 'base64')),
});

export const inboundRetry = storeCommand({
  name: 'inbound retry',
  summary: 'Processes an unreadable mail again, such as a bounce that had no effect.',
  options: {
    id: required(positional(uuid('ID', 'the mail'))),
    reason: remark('TEXT', 'the reason, for the audit log'),
  },
  async run(services, { id, reason }) {
    const outcome = await services.store.inbound.retryInbound(id);
    const refusal = RETRY_REFUSALS[outcome];
    if (refusal !== null) return failed(`${refusal.replace('ID', id)}`);
    services.inboundWaits();
    await recordAct(services, null, 'inbound.retried', { mail: id, reason });
    return done({ id, state: 'waits' });
  },
  render: ({ id }) => `${id} is queued. A running daemon processes it within seconds: postrider inbound show ${id}`,
});

const RETRY_REFUSALS: Readonly<Record<RetriedInbound, string | null>> = {
  waits: null,
  unknown: 'there is no inbound mail ID',
  waiting_already: 'ID is already queued',
  not_unreadable: 'ID was read successfully: only mail of the kind unreadable can be retried',
  erased: 'the content of ID has been erased (retention.content_days)',
};

type ShownMail = ReturnType<typeof shownMail>;

function shownMail(mail: InboundMailRecord) {
  return {
    id: mail.id,
    received_at: toTimestamp(mail.receivedAt),
    remote_ip: mail.remoteIp,
    ehlo_name: mail.ehloName,
    tls: mail.tls,
    mail_from: mail.mailFrom,
    recipients: mail.recipients,
    size_octets: mail.sizeBytes,
    processed_at: mail.processedAt === null ? null : toTimestamp(mail.processedAt),
    kind: mail.kind,
    effect: mail.effect,
    reason: mail.reason,
    message_id: mail.messageId,
    tenant_id: mail.tenantId,
    finding: mail.finding,
  };
}

function linesOf(facts: Record<string, unknown>): (readonly [string, string | number | null])[] {
  return Object.entries(facts).map(([name, value]) => [name.replaceAll('_', ' '), shownValue(value)] as const);
}

function shownValue(value: unknown): string | number | null {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
    ? value.join(', ')
    : JSON.stringify(value);
}

const COLUMNS: Column<ShownMail>[] = [
  { title: 'MAIL', value: (mail) => mail.id },
  { title: 'RECEIVED', value: (mail) => mail.received_at },
  { title: 'KIND', value: (mail) => mail.kind ?? 'waits' },
  { title: 'EFFECT', value: (mail) => mail.effect },
  { title: 'FROM', value: (mail) => mail.mail_from || '<>' },
  { title: 'MESSAGE', value: (mail) => mail.message_id },
  { title: 'REASON', value: (mail) => mail.reason },
];
