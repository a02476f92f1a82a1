// Accepting a submission: the decision and the rows in one transaction.

import { Fault } from '../../../../base/errors.ts';
import { FIRST_SLOT } from '../../../owners.ts';
import type {
  AcceptResult,
  FirstAttempt,
  LaneNotice,
  NewRecipient,
  NewSubmission,
  RefusedSubmission,
  RejectedRecipient,
  SubmissionReceipt,
  SubmissionStore,
} from '../../../submissions.ts';
import type { SuppressionReason } from '../../../suppressions.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId, toOptionalFlag } from '../../values.ts';
import { countOpenMessages } from '../domains/domains.ts';
import { countAccepted } from '../figures/figures.ts';
import { insertAttachments, labelsText, listsText } from '../message/letters.ts';
import { readSendingFacts } from '../message/sending-facts.ts';
import { messageRange, OF_SUBMISSION } from '../message/submission-messages.ts';
import { ownSuppressionReason, suppressionReason } from '../message/suppressions.ts';
import { linkWritten } from '../message/written-mails.ts';
import { isCurrent } from '../nodes/owners.ts';

export function submissionVerbs(
  db: Transaction,
): Work<Pick<SubmissionStore, 'accept' | 'findReceipt' | 'findSendingFacts'>> {
  return {
    accept: (submission) => accept(db, submission),
    findReceipt: (tenantId, idempotencyKey) => readReceipt(db, tenantId, idempotencyKey),
    findSendingFacts: (tenantId, domainId) => readSendingFacts(db, tenantId, domainId),
  };
}

/**
 * The insert of the submission itself finds a replay, through the unique index; a separate look-up is only needed where
 * nothing would be inserted. It comes behind its messages: whoever finds it finds all of it, also a verb beside this one.
 */
export function* accept(db: Transaction, submission: NewSubmission): Steps<AcceptResult> {
  const [isTaken, [examined, isOwned]] = yield* db.both(
    isKeyOfBatch(db, submission),
    db.both(examine(db, submission), isOwnedByBeginner(db, submission)),
  );
  if (isTaken) return { kind: 'key_taken' };
  if ('kind' in examined) return (yield* replayOf(db, submission)) ?? examined;
  const { accepted, rejected } = examined;
  const begin = submission.begin && isOwned && accepted.length === 1 ? submission.begin : null;
  const [content, inserted] = yield* db.both(
    insertContent(db, submission),
    db.forAll(accepted, (recipient) => insertMessage(db, { submission, begin }, recipient)),
  );
  if (!(yield* insertSubmission(db, submission, { content, accepted, rejected }))) {
    yield* takeBack(
      db,
      content,
      accepted.filter((_, index) => inserted[index]!.isNew),
    );
    return (yield* replayOf(db, submission))!;
  }
  if (inserted.some(({ isNew }) => !isNew)) throw new Fault('a message has an ID twice', { permanence: 'permanent' });
  const { attachments = [], written } = submission;
  if (attachments.length > 0) yield* insertAttachments(db, content, attachments);
  if (written) yield* linkWritten(db, submission, written);
  countOpenMessages(db, submission.domainId, accepted.length);
  countAccepted(db, submission, accepted.length);
  const receipt = { id: submission.id, messageIds: accepted.map((recipient) => recipient.messageId), rejected };
  return {
    kind: 'accepted',
    receipt,
    lanes: submission.sendAt ? [] : inserted.map(({ lane }) => lane),
    begun: begin !== null,
  };
}

/** Why it would be refused; null: it would be accepted. */
export function* refusalOf(db: Transaction, submission: NewSubmission): Steps<RefusedSubmission | null> {
  const examined = yield* examine(db, submission);
  return 'kind' in examined ? examined : null;
}

function* examine(db: Transaction, submission: NewSubmission): Steps<Partition | RefusedSubmission> {
  if (!(yield* isActive(db, submission.tenantId))) return { kind: 'tenant_not_active' };
  const { accepted, rejected } = yield* partition(db, submission);
  if (!(yield* isVerified(db, submission))) return { kind: 'domain_not_verified' };
  return accepted.length === 0 ? { kind: 'all_suppressed', rejected } : { accepted, rejected };
}

function* isKeyOfBatch(db: Transaction, { tenantId, idempotencyKey: key }: NewSubmission): Steps<boolean> {
  if (key === null) return false;
  const batch = db.sql('SELECT 1 FROM batches WHERE tenant_id = +? AND idempotency_key = +?');
  return (yield* batch.get(toId(tenantId), key)) !== undefined;
}

function* isOwnedByBeginner(db: Transaction, { begin }: NewSubmission): Steps<boolean> {
  return begin !== undefined && (yield* isCurrent(db, begin.owner));
}

function* replayOf(db: Transaction, { tenantId, idempotencyKey }: NewSubmission): Steps<AcceptResult | null> {
  const receipt = idempotencyKey === null ? null : yield* readReceipt(db, tenantId, idempotencyKey);
  return receipt && { kind: 'replayed', receipt };
}

function* isActive(db: Transaction, tenantId: string): Steps<boolean> {
  const active = db.sql(`SELECT 1 FROM tenants WHERE id = +? AND status = 'active'`);
  const found = yield* db.cached(`active tenant ${tenantId}`, function* () {
    return (yield* active.get(toId(tenantId))) ?? null;
  });
  return found !== null;
}

function* isVerified(db: Transaction, { domainId, tenantId }: NewSubmission): Steps<boolean> {
  const verified = db.sql(`SELECT 1 FROM domains WHERE id = +? AND tenant_id = +? AND state = 'verified'`);
  const found = yield* db.cached(`verified domain ${tenantId} ${domainId}`, function* () {
    return (yield* verified.get(toId(domainId), toId(tenantId))) ?? null;
  });
  return found !== null;
}

interface Partition {
  accepted: NewRecipient[];
  rejected: RejectedRecipient[];
}

function* partition(db: Transaction, submission: NewSubmission): Steps<Partition> {
  const accepted: NewRecipient[] = [];
  const rejected: RejectedRecipient[] = [];
  const { tenantId, acceptedAt: at, ofService = false, recipients } = submission;
  const reasons = yield* db.forAll(recipients, (recipient) =>
    reasonAgainst(db, { tenantId, at, ofService }, recipient),
  );
  for (const [index, recipient] of recipients.entries()) {
    const reason = reasons[index]!;
    if (reason) rejected.push({ to: recipient.address, reason });
    else accepted.push(recipient);
  }
  return { accepted, rejected };
}

/** Why nothing may be sent to the address at this time; null: it may. */
export function* reasonAgainst(
  db: Transaction,
  { tenantId, at, ofService = false }: { tenantId: string; at: number; ofService?: boolean },
  { suppressionKey: address, staysUsable = false }: Pick<NewRecipient, 'suppressionKey' | 'staysUsable'>,
): Steps<SuppressionReason | null> {
  const reason = ofService
    ? yield* reasonAgainstService(db, tenantId, address)
    : yield* suppressionReason(db, tenantId, address, at);
  return staysUsable && (reason === 'hard_bounce' || reason === 'complaint') ? null : reason;
}

/** Links to set a password must arrive despite other tenants' bounces, complaints and unsubscribes. */
function* reasonAgainstService(db: Transaction, tenantId: string, address: string): Steps<SuppressionReason | null> {
  const own = yield* ownSuppressionReason(db, tenantId, address);
  return own === 'complaint' || own === 'unsubscribe' ? null : own;
}

function* insertContent(db: Transaction, submission: NewSubmission): Steps<number> {
  const { subject, html, text, headers, lists, attachments = [] } = submission;
  const insert = db.sql(
    'INSERT INTO contents (subject, html, text, headers, lists, attachments) VALUES (+?, +?, +?, +?, +?, +?) RETURNING id',
    'assigned',
  );
  const listed = listsText(lists);
  return (yield* insert.get(subject, html, text, JSON.stringify(headers), listed, attachments.length)) as number;
}

/** False, and nothing is inserted, when the idempotency key exists already. */
function* insertSubmission(
  db: Transaction,
  submission: NewSubmission,
  { content, accepted, rejected }: Partition & { content: number },
): Steps<boolean> {
  const inserted = yield* db
    .sql(
      `INSERT INTO submissions (id, tenant_id, api_key_id, domain_id, content_id, idempotency_key, from_address,
         from_name, subject, rejected, labels, track_opens, track_clicks, send_at, source, header_message_id,
         created_at, first_message, last_message)
       VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?)
       ON CONFLICT (tenant_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING`,
    )
    .run(
      toId(submission.id),
      toId(submission.tenantId),
      toId(submission.apiKeyId),
      toId(submission.domainId),
      content,
      submission.idempotencyKey,
      submission.from.address,
      submission.from.name,
      submission.subject,
      JSON.stringify(rejected),
      labelsText(submission.labels),
      toOptionalFlag(submission.tracking?.opens),
      toOptionalFlag(submission.tracking?.clicks),
      submission.sendAt ?? null,
      submission.written?.source ?? null,
      submission.written?.messageId ?? null,
      submission.acceptedAt,
      ...messageRange(accepted),
    );
  return inserted.changes === 1;
}

function* takeBack(db: Transaction, content: number, messages: readonly NewRecipient[]): Steps<void> {
  const message = db.sql('DELETE FROM messages WHERE id = +?');
  yield* db.sql('DELETE FROM contents WHERE id = +?').run(content);
  yield* db.forAll(messages, ({ messageId }) => message.run(toId(messageId)));
}

/** Not new: the same call came before, with the same IDs. */
function* insertMessage(
  db: Transaction,
  { submission, begin }: { submission: NewSubmission; begin: FirstAttempt | null },
  recipient: NewRecipient,
): Steps<{ lane: LaneNotice; isNew: boolean }> {
  const { tenantId, slot = FIRST_SLOT } = submission;
  const lane = yield* laneFor(db, { tenantId, domain: recipient.domain, slot });
  const { changes } = yield* db
    .sql(
      `INSERT INTO messages (id, tenant_id, submission_id, lane, recipient, recipient_name, copy, state, attempts,
       due_at, expires_at, ambiguous, parked, created_at)
     VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?, +?, +?, 0, 0, +?) ON CONFLICT DO NOTHING`,
    )
    .run(
      toId(recipient.messageId),
      toId(tenantId),
      toId(submission.id),
      lane,
      recipient.address,
      recipient.name,
      recipient.copy ?? null,
      begin ? 'sending' : submission.sendAt ? 'scheduled' : 'queued',
      begin ? 1 : 0,
      begin?.dueAgainAt ?? submission.sendAt ?? submission.acceptedAt,
      submission.expiresAt,
      submission.acceptedAt,
    );
  const notice = { lane, slot, tenantId, domain: recipient.domain, dueAt: submission.acceptedAt };
  return { lane: notice, isNew: changes === 1 };
}

function* laneFor(
  db: Transaction,
  { tenantId, domain, slot }: { tenantId: string; domain: string; slot: number },
): Steps<number> {
  return yield* db.ensured(`lane ${tenantId} ${domain} ${slot}`, function* () {
    const tenant = toId(tenantId);
    const known = db.sql('SELECT id FROM lanes WHERE tenant_id = +? AND domain = +? AND slot = +?', 'column');
    const found = (yield* known.get(tenant, domain, slot)) as number | undefined;
    if (found !== undefined) return found;
    const make = db.sql('INSERT INTO lanes (tenant_id, domain, slot) VALUES (+?, +?, +?) RETURNING id', 'assigned');
    return (yield* make.get(tenant, domain, slot)) as number;
  });
}

export function* readReceipt(
  db: Transaction,
  tenantId: string,
  idempotencyKey: string,
): Steps<SubmissionReceipt | null> {
  const row = (yield* db
    .sql('SELECT id, rejected FROM submissions WHERE tenant_id = +? AND idempotency_key = +?')
    .get(toId(tenantId), idempotencyKey)) as Row | undefined;
  return row ? yield* receiptOf(db, row) : null;
}

/** Of a row with the columns `id` and `rejected`. */
export function* receiptOf(db: Transaction, row: Row): Steps<SubmissionReceipt> {
  const messages = db.sql(
    `SELECT m.id FROM submissions s JOIN messages m ON ${OF_SUBMISSION} WHERE s.id = +? ORDER BY m.id`,
  );
  return {
    id: fromId(row.id),
    messageIds: ((yield* messages.all(row.id)) as Row[]).map((message) => fromId(message.id)),
    rejected: JSON.parse(row.rejected as string) as RejectedRecipient[],
  };
}
