// Accepts a submission and begins to send its message in the same commit, where delivery has a session ready for it: one
// commit less, and the content goes along, so that nobody reads it again.
import type { ClaimedMessage } from '../store/queue.ts';
import type { Store } from '../store/store.ts';
import type { AcceptResult, FirstAttempt, MessageContent, NewSubmission, SendingFacts } from '../store/submissions.ts';

/** A session waits for the message: exactly one of the two must be called. */
export interface Passage extends FirstAttempt {
  /** It is on disk, claimed. */
  begin(message: ClaimedMessage): void;
  /** It was refused, or waits in the queue. */
  drop(): void;
}

interface NewMail {
  tenantId: string;
  /** Of its recipient. */
  domain: string;
  fromDomain: string;
}

export interface Passages {
  /** A first look, which costs next to nothing. False: there is none. */
  mayFind(mail: NewMail): boolean;
  /** A session that waits for the message; null: it goes into the queue. */
  find(mail: NewMail): Passage | null;
}

export interface BeginAtOnce {
  store: Pick<Store, 'submissions'>;
  passages: Passages;
}

interface Prepared {
  submission: NewSubmission;
  fromDomain: string;
}

/** What is larger is read by the courier: it would pass through two more threads. */
const MAX_HANDED_CHARS = 64 * 1024;

/** `note` hears of the result before anything is sent. */
export async function acceptAndBegin(
  { store, passages }: BeginAtOnce,
  { submission, fromDomain }: Prepared,
  note: (result: AcceptResult) => void,
): Promise<AcceptResult> {
  const passage = await passageFor({ store, passages }, { submission, fromDomain });
  if (passage === null) {
    const result = await store.submissions.accept(submission);
    note(result);
    return result;
  }
  let begun: ClaimedMessage | null = null;
  try {
    const { owner, dueAgainAt, facts } = passage;
    const result = await store.submissions.accept(
      Object.assign(submission, { slot: owner.slot, begin: { owner, dueAgainAt } }),
    );
    note(result);
    if (result.kind === 'accepted' && result.begun) {
      const { lane } = result.lanes[0]!;
      begun = Object.assign(claimed(submission, { fromDomain, owner, lane }), {
        content: contentOf(submission, facts),
      });
    }
    return result;
  } finally {
    if (begun) passage.begin(begun);
    else passage.drop();
  }
}

/** Null: the message goes into the queue. */
async function passageFor(
  { store, passages }: BeginAtOnce,
  { submission, fromDomain }: Prepared,
): Promise<(Passage & { facts: SendingFacts }) | null> {
  const { tenantId, domainId, recipients } = submission;
  const [recipient] = recipients;
  if (recipients.length !== 1 || !recipient || !isPlain(submission)) return null;
  const mail = { tenantId, domain: recipient.domain, fromDomain };
  if (!passages.mayFind(mail)) return null;
  const facts = await store.submissions.findSendingFacts(tenantId, domainId);
  // Not before the last wait: a session that waits sends nothing meanwhile.
  const passage = facts && passages.find(mail);
  return passage && { ...passage, facts };
}

function isPlain({ attachments, written, sendAt, html, text }: NewSubmission): boolean {
  const isSmall = (html?.length ?? 0) + (text?.length ?? 0) <= MAX_HANDED_CHARS;
  return isSmall && !written && !sendAt && (attachments?.length ?? 0) === 0;
}

function claimed(
  submission: NewSubmission,
  { fromDomain, owner, lane }: Pick<ClaimedMessage, 'fromDomain' | 'owner' | 'lane'>,
): ClaimedMessage {
  const { id, tenantId, from, subject, labels, acceptedAt, expiresAt, recipients } = submission;
  const { messageId, address } = recipients[0]!;
  return {
    id: messageId,
    tenantId,
    submissionId: id,
    lane,
    recipient: address,
    from: from.address,
    fromDomain,
    subject,
    labels: labels ?? null,
    attempt: 1,
    createdAt: acceptedAt,
    sendAt: null,
    expiresAt,
    notices: 0,
    sourceAddress: null,
    owner,
  };
}

/** As the courier would read it. */
function contentOf(submission: NewSubmission, facts: SendingFacts): MessageContent {
  const { id, tenantId, from, subject, html, text, headers, lists, tracking, acceptedAt, recipients } = submission;
  const { messageId, address, name } = recipients[0]!;
  return {
    messageId,
    tenantId,
    submissionId: id,
    from,
    to: { address, name },
    subject,
    html,
    text,
    headers,
    lists: lists ?? null,
    attachments: 0,
    written: null,
    date: acceptedAt,
    signing: facts.signing,
    bouncesDomain: facts.bouncesDomain,
    openTracking: tracking?.opens ?? facts.openTracking,
    clickTracking: tracking?.clicks ?? facts.clickTracking,
    unsubscribe: facts.unsubscribe,
  };
}
