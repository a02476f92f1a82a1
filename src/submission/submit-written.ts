// Accepts a written mail, as an application hands it in by SMTP: what its header asks for is checked as the fields of a
// call are, its body is kept while it comes in, and the store's one transaction makes it count.
import { isRefusal, type Refusal } from '../base/refusals.ts';
import type { WrittenHeader } from '../protocol/mail/written/written-header.ts';
import type { Domain } from '../store/domains.ts';
import type { AcceptResult, Labels, NewSubmission } from '../store/submissions.ts';
import type { NewWrittenMail } from '../store/written-mails.ts';
import type { DoorRecipient } from './door/arriving-mail.ts';
import { idempotencyKeyProblem } from './idempotency-key.ts';
import { invalid } from './invalid.ts';
import { readLabels } from './labels.ts';
import { announce, noteResult, notVerified, type SubmissionOptions } from './prepare-submission.ts';
import { readSendAt } from './schedule.ts';
import { notAllowed, type Sender } from './sender.ts';

export interface WrittenMail {
  /** Of the submission: its body is kept under it. */
  id: string;
  sender: Sender;
  recipients: readonly DoorRecipient[];
  header: WrittenHeader;
  /** Called once, when everything else is known to be good: stores what follows the header. */
  keepBody(): Promise<NewWrittenMail | Refusal>;
}

type Options = Pick<
  SubmissionOptions,
  'store' | 'clock' | 'ids' | 'lifetimeMs' | 'log' | 'onAccepted' | 'onScheduled' | 'onStored'
>;

/** What the header asks for, as it is stored. */
export interface WrittenOrder {
  idempotencyKey: string | null;
  labels: Labels | null;
  sendAt: number | null;
}

export function readWrittenOrder({ header }: Pick<WrittenMail, 'header'>, now: number): WrittenOrder | Refusal {
  const { control } = header;
  const key = control.idempotencyKey;
  const keyProblem = key === null ? null : idempotencyKeyProblem(key.value);
  if (key !== null && keyProblem !== null) return invalid(key.header, keyProblem);
  const labels = readLabels({ tags: control.tags ?? {}, metadata: control.metadata ?? {} });
  if (labels && 'problem' in labels) {
    return invalid(labels.field.startsWith('tags') ? 'X-Postrider-Tag' : 'X-Postrider-Metadata', labels.problem);
  }
  const sendAt = readSendAt(control.sendAt ?? undefined, now, 'X-Postrider-Send-At');
  if (isRefusal(sendAt)) return sendAt;
  return {
    idempotencyKey: key?.value ?? null,
    labels,
    sendAt,
  };
}

/** A mail whose body is on disk; it counts when it is accepted. */
export interface KeptMail {
  submission: NewSubmission;
  fromDomain: string;
}

export async function keepWritten(
  options: Options,
  mail: WrittenMail,
  order: WrittenOrder,
): Promise<KeptMail | Refusal> {
  const { sender, header } = mail;
  const { domain: fromDomain } = header.from;
  if (sender.boundDomain !== null && sender.boundDomain !== fromDomain) return notAllowed(sender.boundDomain);
  const domain = await options.store.domains.findVerifiedDomain(sender.tenantId, fromDomain);
  if (!domain) return notVerified(options.store, sender, fromDomain);
  const written = await mail.keepBody();
  if (isRefusal(written)) return written;
  return { submission: newSubmission(options, mail, { order, domain, written }), fromDomain };
}

export async function acceptKept(options: Options, { submission, fromDomain }: KeptMail): Promise<AcceptResult> {
  const result = await options.store.submissions.accept(submission);
  noteResult(options, submission, { result, fromDomain });
  if (result.kind === 'accepted') announce(options, submission, result.lanes);
  return result;
}

function newSubmission(
  { clock, ids, lifetimeMs }: Options,
  { id, sender, recipients, header }: WrittenMail,
  { order, domain, written }: { order: WrittenOrder; domain: Domain; written: NewWrittenMail },
): NewSubmission {
  const acceptedAt = clock.now();
  const { from, subject, control } = header;
  return {
    id,
    tenantId: sender.tenantId,
    apiKeyId: sender.id,
    domainId: domain.id,
    idempotencyKey: order.idempotencyKey,
    from: { address: from.address, name: from.name },
    subject,
    html: null,
    text: null,
    headers: [],
    written,
    labels: order.labels,
    tracking: control.tracking,
    sendAt: order.sendAt,
    recipients: recipients.map((recipient) => ({ messageId: ids.next(), ...recipient })),
    acceptedAt,
    expiresAt: (order.sendAt ?? acceptedAt) + lifetimeMs,
  };
}
