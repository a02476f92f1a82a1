// Inbound mail: storing, finding, and processing in one transaction with the note of it.

import type { BounceType } from '../../../../base/outcome.ts';
import type {
  ContentQuota,
  InboundAction,
  InboundReception,
  InboundResult,
  InboundStore,
  InboundUpdate,
  KeptInbound,
  NewInboundMail,
  ReportedMessage,
  WaitingInboundMail,
} from '../../../inbound.ts';
import { FIRST_SLOT } from '../../../owners.ts';
import { ENDED_STATES, type MessageState } from '../../../queue.ts';
import { eachOf, type Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { countOpenMessages } from '../domains/domains.ts';
import { insertEvent } from '../message/events.ts';
import { labelsFromRow } from '../message/letters.ts';
import { insertSuppression } from '../message/suppressions.ts';
import { isCurrent } from '../nodes/owners.ts';
import { suppressHardBounce } from '../queue/queue.ts';
import { addDmarcReport } from './dmarc-reports.ts';
import { classifyReturned, countReturned, settleReturned } from './returned-mail.ts';
import { countUnasked, makeUnaskedRoom } from './unasked-mail.ts';

type InboundVerbs = Work<Pick<InboundStore, 'keepInbound' | 'waitingInbound' | 'findReported' | 'recordInbound'>>;

export function inboundVerbs(db: Transaction): InboundVerbs {
  return {
    keepInbound: (mail, quota) => keep(db, mail, quota),
    waitingInbound: (slots, afterSeq, limit) => waiting(db, slots, { afterSeq, limit }),
    findReported: (messageId) => findReported(db, messageId),
    recordInbound: (update) => record(db, update),
  };
}

function* keep(db: Transaction, mail: NewInboundMail, quota?: ContentQuota): Steps<KeptInbound> {
  const { id, receivedAt, remoteIp, ehloName, tls, mailFrom, recipients, content, slot = FIRST_SLOT } = mail;
  const bytes = content.length;
  const place = quota?.of === 'returned' ? yield* classifyReturned(db, { receivedAt, bytes }, quota) : 'within';
  if (place === 'full') return 'full';
  if (quota?.of === 'unasked' && (yield* makeUnaskedRoom(db, bytes, quota.maxBytes)) === 'full') return 'full';
  const seq = (yield* db
    .sql(
      `INSERT INTO inbound_mails (id, received_at, remote_ip, ehlo_name, tls, mail_from, recipients, size_octets, slot)
       VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?) RETURNING seq`,
      'assigned',
    )
    .get(toId(id), receivedAt, remoteIp, ehloName, tls, mailFrom, JSON.stringify(recipients), bytes, slot)) as number;
  yield* db.sql('INSERT INTO inbound_contents (mail_seq, content) VALUES (+?, +?)').run(seq, content);
  if (quota?.of === 'unasked') yield* countUnasked(db, seq, bytes);
  if (quota?.of === 'returned')
    yield* countReturned(db, { seq, receivedAt, bytes, isBeyond: place === 'beyond' }, quota);
  return 'kept';
}

// A page of large mails would fill the memory: the limit of bytes ends it early.
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

/** Slot by slot, since the index gives each slot's order. */
function* waiting(
  db: Transaction,
  slots: readonly number[],
  { afterSeq, limit }: { afterSeq: number; limit: number },
): Steps<WaitingInboundMail[]> {
  const ofSlot = db.sql(
    'SELECT * FROM inbound_mails WHERE processed_at IS NULL AND slot = +? AND seq > +? ORDER BY seq LIMIT +?',
  );
  const rows = (yield* eachOf(slots, function* (slot) {
    return (yield* ofSlot.all(slot, afterSeq, limit)) as (Row & { seq: number })[];
  })).flat();
  rows.sort((one, two) => one.seq - two.seq);
  const mails: WaitingInboundMail[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, limit)) {
    bytes += row.size_octets as number;
    if (mails.length > 0 && bytes > MAX_PAGE_BYTES) break;
    const found = yield* db.sql('SELECT content FROM inbound_contents WHERE mail_seq = +?', 'column').get(row.seq);
    mails.push({
      seq: row.seq,
      slot: row.slot as number,
      tries: row.tries as number,
      ...receptionFromRow(row),
      content: (found as Buffer | undefined) ?? Buffer.alloc(0),
    });
  }
  return mails;
}

export function receptionFromRow(row: Row): InboundReception {
  return {
    id: fromId(row.id),
    receivedAt: row.received_at as number,
    remoteIp: row.remote_ip as string,
    ehloName: row.ehlo_name as string,
    tls: row.tls as string | null,
    mailFrom: row.mail_from as string,
    recipients: JSON.parse(row.recipients as string) as string[],
  };
}

function* findReported(db: Transaction, messageId: string): Steps<ReportedMessage | null> {
  const row = (yield* db
    .sql(
      `SELECT m.id, m.tenant_id, m.submission_id, m.recipient, m.state, m.attempts, m.created_at,
         coalesce(s.from_address, '') AS from_address, coalesce(s.subject, '') AS subject, s.labels, s.header_message_id,
         coalesce(d.name, '') AS from_domain, g.mx_group, t.bounces_domain
       FROM messages m LEFT JOIN submissions s ON s.id = m.submission_id LEFT JOIN domains d ON d.id = s.domain_id
       LEFT JOIN lanes l ON l.id = m.lane LEFT JOIN groups_of_domains g ON g.domain = l.domain
       LEFT JOIN tenants t ON t.id = m.tenant_id WHERE m.id = +?`,
    )
    .get(toId(messageId))) as Row | undefined;
  if (!row) return null;
  return {
    id: fromId(row.id),
    tenantId: fromId(row.tenant_id),
    submissionId: fromId(row.submission_id),
    recipient: row.recipient as string,
    from: row.from_address as string,
    fromDomain: row.from_domain as string,
    subject: row.subject as string,
    labels: labelsFromRow(row),
    state: row.state as ReportedMessage['state'],
    attempts: row.attempts as number,
    createdAt: row.created_at as number,
    mxGroup: row.mx_group as string | null,
    bouncesDomain: row.bounces_domain as string | null,
  };
}

/** The action runs first, since its result decides what is noted. */
function* record(db: Transaction, update: InboundUpdate): Steps<InboundResult> {
  const { seq, at, owner, verdict, action } = update;
  const waits = yield* db
    .sql('SELECT slot FROM inbound_mails WHERE seq = +? AND processed_at IS NULL', 'column')
    .get(seq);
  if (waits === undefined) return { kind: 'unchanged', why: 'processed' };
  if (waits !== owner.slot || !(yield* isCurrent(db, owner))) return { kind: 'unchanged', why: 'not_owner' };
  const { objection, remark } =
    action?.do === 'dmarc'
      ? yield* addDmarcReport(db, update, action)
      : { objection: action === null ? null : yield* act(db, update, action), remark: null };
  const reason = remark === null ? verdict.reason : `${verdict.reason}; ${remark}`;
  const result =
    objection === null ? { effect: verdict.effect, reason } : { effect: 'none' as const, reason: objection };
  const { kind, digest, messageId, tenantId, finding } = verdict;
  yield* db
    .sql(
      `UPDATE inbound_mails SET processed_at = +?, kind = +?, effect = +?, reason = +?, digest = +?, message_id = +?,
       tenant_id = +?, finding = +? WHERE seq = +?`,
    )
    .run(
      at,
      kind,
      result.effect,
      result.reason,
      digest,
      messageId === null ? null : toId(messageId),
      tenantId === null ? null : toId(tenantId),
      JSON.stringify(finding),
      seq,
    );
  const hadEffect = result.effect !== 'none' && result.effect !== 'kept';
  const about = yield* settleReturned(db, seq, { kind, hadEffect });
  const said = about === null ? result.reason : `${result.reason}; ${about}`;
  return { kind: 'recorded', effect: result.effect, reason: said };
}

interface Target {
  messageId: string;
  tenantId: string;
  at: number;
}

/** Null when it was done, otherwise why not. */
function* act(
  db: Transaction,
  update: InboundUpdate,
  action: Exclude<InboundAction, { do: 'dmarc' }>,
): Steps<string | null> {
  const { messageId, tenantId } = update.verdict;
  if (messageId === null || tenantId === null) return 'it proves no message';
  const target = { messageId, tenantId, at: update.at };
  const entry = { messageId, createdAt: update.at };
  switch (action.do) {
    case 'bounce':
      return yield* bounce(db, target, { ...action, why: update.verdict.reason });
    case 'delay_notice': {
      if (yield* isRepeated(db, update, messageId)) return 'the same notice of delay came before';
      const note = db.sql(
        'UPDATE messages SET notices = notices + 1 WHERE id = +? AND tenant_id = +? AND notices < +?',
      );
      if ((yield* note.run(toId(messageId), toId(tenantId), MAX_NOTICES)).changes === 0)
        return 'there were notices enough';
      break;
    }
    case 'complaint': {
      if (action.reason === 'complaint' && !(yield* markComplained(db, target, action.weight))) {
        return 'there was a complaint about this message before';
      }
      if (action.suppressionKey === null) break;
      const address = action.suppressionKey;
      const added = yield* insertSuppression(db, tenantId, { ...entry, address, reason: action.reason });
      if (action.reason === 'unsubscribe' && added === 'exists') return 'the address is on the list already';
      break;
    }
    case 'unsubscribe': {
      const address = action.suppressionKey;
      const added = yield* insertSuppression(db, tenantId, { ...entry, address, reason: 'unsubscribe' });
      return added === 'added' ? null : 'the address is on the list already';
    }
  }
  yield* insertEvent(db, target, action.event);
  return null;
}

/** Limits delay events when a receiver reports every quarter of an hour that it is still trying. */
const MAX_NOTICES = 10;

function* isRepeated(db: Transaction, { verdict }: InboundUpdate, messageId: string): Steps<boolean> {
  const same = db.sql(
    `SELECT 1 FROM inbound_mails WHERE message_id = +? AND digest = +? AND processed_at IS NOT NULL AND effect <> 'none'`,
  );
  return (yield* same.get(toId(messageId), verdict.digest)) !== undefined;
}

function* markComplained(db: Transaction, { messageId, tenantId }: Target, weight: number): Steps<boolean> {
  const mark = db.sql(
    'UPDATE messages SET complained = 1, complaint_weight = +? WHERE id = +? AND tenant_id = +? AND complained = 0',
  );
  return (yield* mark.run(weight, toId(messageId), toId(tenantId))).changes === 1;
}

interface Ended {
  state: MessageState;
  bounce: BounceType | null;
  attempts: number;
  domain_id: Buffer | null;
}

/**
 * A report turns delivered into bounced. A message that waits for a retry after an ambiguous attempt has arrived after
 * all, and ends here, too. Messages that have ended otherwise stay as they are; but when a message has bounced softly, a
 * hard report may still suppress its address.
 */
function* bounce(
  db: Transaction,
  target: Target,
  { bounce, suppress, event, why }: Extract<InboundAction, { do: 'bounce' }> & { why: string },
): Steps<string | null> {
  const id = toId(target.messageId);
  const tenant = toId(target.tenantId);
  const message = (yield* db
    .sql(
      `SELECT m.state, m.bounce, m.attempts, s.domain_id FROM messages m LEFT JOIN submissions s ON s.id = m.submission_id
       WHERE m.id = +? AND m.tenant_id = +?`,
    )
    .get(id, tenant)) as Ended | undefined;
  if (!message) return 'the message is no longer known';
  const { state, attempts, domain_id } = message;
  if (suppress && state === 'bounced' && message.bounce === 'soft') {
    yield* suppressHardBounce(db, target, suppress);
    return 'the message is bounced already; its address is suppressed from now on';
  }
  if (ENDED_STATES.includes(state)) return `the message is ${state} already`;
  if (attempts === 0) return 'the message was never sent';
  yield* db
    .sql(
      `UPDATE messages SET state = 'bounced', bounce = +?, last_reason = +?, due_at = NULL, ambiguous = 0, parked = 0,
       finished_at = +? WHERE id = +? AND tenant_id = +?`,
    )
    .run(bounce, why, target.at, id, tenant);
  if (state !== 'delivered' && domain_id !== null) countOpenMessages(db, fromId(domain_id), -1);
  if (suppress) yield* suppressHardBounce(db, target, suppress);
  yield* insertEvent(db, target, event);
  return null;
}
