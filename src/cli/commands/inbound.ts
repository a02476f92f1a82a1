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
  summary: 'Lists mail that came in, the newest first: bounces, complaints, mail by people, and what was refused.',
  options: {
    kind: oneOf('KIND', INBOUND_KINDS, 'only what was taken for this'),
    effect: oneOf('EFFECT', INBOUND_EFFECTS, 'only what has led to this'),
    message: uuid('ID', 'only what is about this message'),
    before: uuid('ID', 'begin behind this mail'),
    limit: wholeNumber('N', { min: 1, max: 10_000 }, `how many at most; ${DEFAULT_LIMIT} when not given`),
  },
  async run({ store }, { kind, effect, message, before, limit }) {
    const mails = await store.listInbound({
      ...(kind && { kind }),
      ...(effect && { effect }),
      ...(message && { messageId: message }),
      ...(before && { before }),
      limit: limit ?? DEFAULT_LIMIT,
    });
    if (mails === 'unknown') return failed(`there is no inbound mail ${before}`);
    // What came in about it may be kept for longer than the message.
    if (mails.length === 0 && message && !(await store.getMessage(message))) {
      return failed(`there is no message ${message}`);
    }
    return done({ mails: mails.map(shownMail) });
  },
  render: ({ mails }) => renderTable(mails, COLUMNS, 'Nothing has come in.'),
});

export const inboundShow = storeCommand({
  name: 'inbound show',
  summary: 'Shows one mail that came in, and with --raw the mail itself.',
  options: {
    id: required(positional(uuid('ID', 'the mail'))),
    raw: flag('the mail itself, octet by octet as it came; base64 with --json'),
  },
  async run({ store }, { id, raw }): Promise<Answer<ShownMail & { raw_base64: string | null }>> {
    const found = await store.getInbound(id);
    if (!found) return failed(`there is no inbound mail ${id}`);
    if (!raw) return done({ ...shownMail(found.mail), raw_base64: null });
    if (found.mail.kind === 'refused')
      return failed(`${id} was refused, so its content was not kept: ${found.mail.reason}`);
    if (found.content === null) return failed(`the content of ${id} is not kept any more: ${found.mail.reason}`);
    return done({ ...shownMail(found.mail), raw_base64: found.content.toString('base64') });
  },
  render: ({ raw_base64: _, finding, ...facts }) => renderFacts([...linesOf(facts), ...linesOf(finding ?? {})]),
  octets: ({ raw_base64: raw }) => (raw === null ? null : Buffer.from(raw, 'base64')),
});

export const inboundRetry = storeCommand({
  name: 'inbound retry',
  summary: 'Works again on a mail that was kept as unreadable, such as a bounce that took no effect.',
  options: {
    id: required(positional(uuid('ID', 'the mail'))),
    reason: remark('TEXT', 'why, for the record'),
  },
  async run(services, { id, reason }) {
    const outcome = await services.store.retryInbound(id);
    const refusal = RETRY_REFUSALS[outcome];
    if (refusal !== null) return failed(`${refusal.replace('ID', id)}, so nothing was changed`);
    services.inboundWaits();
    await recordAct(services, null, 'inbound.retried', { mail: id, reason });
    return done({ id, state: 'waits' });
  },
  render: ({ id }) =>
    `${id} waits, and is worked on within moments while the daemon runs: postrider inbound show ${id}`,
});

const RETRY_REFUSALS: Readonly<Record<RetriedInbound, string | null>> = {
  waits: null,
  unknown: 'there is no inbound mail ID',
  waiting_already: 'ID is waiting already',
  not_unreadable: 'ID has been read: only mail of the kind unreadable can be tried again',
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
    size_octets: mail.sizeOctets,
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
