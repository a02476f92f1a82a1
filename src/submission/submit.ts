// Accepts a submission: looks for a replay, validates, and passes it to the store, whose single
// transaction decides about replay, suppression and the domain's state. `submit` resolves after the
// commit, so an accepted call is on disk.
import { InDoubt, Unavailable } from '../base/errors.ts';
import { isRefusal, type Refusal, refuse } from '../base/refusals.ts';
import type { AcceptResult, SubmissionReceipt } from '../store/submissions.ts';
import { acceptAndBegin } from './begin-at-once.ts';
import { type KeyedCall, type Once, OncePerKey } from './once-per-key.ts';
import {
  announce,
  type CountRendered,
  explainedRefusal,
  noteResult,
  type Prepared,
  prepareSubmission,
  type SubmissionOptions,
  type SubmitCall,
  type TraceParent,
} from './prepare-submission.ts';
import type { SendBody } from './send-request.ts';
import type { Sender } from './sender.ts';
import { type BatchBody, type BatchReceipt, createBatches } from './submit-batch.ts';
import { acceptKept, keepWritten, readWrittenOrder, type WrittenMail } from './submit-written.ts';

export type SubmissionAnswer = Once<SubmissionReceipt>;

/** A call's body, read only when it is needed. */
export interface SentBody<Body> {
  bytes: number;
  read(): Body | Refusal | Promise<Body | Refusal>;
  countRendered?: CountRendered;
  traceParent?: TraceParent;
}

export interface Submission {
  /** The body of a repeated call is ignored, even if it can't be parsed. */
  submit(sender: Sender, idempotencyKey: string | null, body: SentBody<SendBody>): Promise<SubmissionAnswer | Refusal>;
  /** Many at once, in one transaction. */
  submitBatch(
    sender: Sender,
    idempotencyKey: string | null,
    body: SentBody<BatchBody>,
  ): Promise<Once<BatchReceipt> | Refusal>;
  /** A mail that an application wrote. */
  submitWritten(mail: WrittenMail): Promise<SubmissionAnswer | Refusal>;
  /** The refusal of `submit` that does not depend on the body: intake is closed, and the call is not a replay. */
  refuseEarly(sender: Sender, idempotencyKey: string | null): Promise<Refusal | null>;
}

/** As for a large body: looking for a receipt costs less than a transaction with what may be left of a mail. */
const LOOK_FIRST = Number.POSITIVE_INFINITY;

export function createSubmission(options: SubmissionOptions): Submission {
  const { submissions } = options.store;
  const once = new OncePerKey(submissions.findReceipt);
  const batches = createBatches(options);
  const onceForBatches = new OncePerKey(submissions.findBatch);

  function unlessRepeated<Receipt>(
    of: OncePerKey<Receipt>,
    call: Omit<KeyedCall, 'idempotencyKey'> & { idempotencyKey: string | null },
    work: () => Promise<Once<Receipt> | Refusal>,
  ): Promise<Once<Receipt> | Refusal> {
    const { idempotencyKey } = call;
    return idempotencyKey === null ? work() : of.run({ ...call, idempotencyKey }, work);
  }

  return {
    submit(sender, idempotencyKey, body) {
      const call = { tenantId: sender.tenantId, idempotencyKey, bytes: body.bytes };
      const work = () =>
        whenOpen(options, body, (given) => accept(options, callOf(sender, idempotencyKey, body), given));
      return unlessRepeated(once, call, work);
    },
    submitBatch(sender, idempotencyKey, body) {
      const call = { tenantId: sender.tenantId, idempotencyKey, bytes: body.bytes };
      const work = () =>
        whenOpen(options, body, (given) => batches.accept(callOf(sender, idempotencyKey, body), given));
      return unlessRepeated(onceForBatches, call, work);
    },
    async submitWritten(mail) {
      const order = readWrittenOrder(mail, options.clock.now());
      if (isRefusal(order)) return order;
      const { idempotencyKey } = order;
      const { tenantId } = mail.sender;
      const earlier = idempotencyKey === null ? null : await submissions.findReceipt(tenantId, idempotencyKey);
      if (earlier) return { receipt: earlier, replayed: true };
      // Before the gate: other calls with this key would wait for as long as the client takes to send the mail.
      const kept = await keepWritten(options, mail, order);
      if (isRefusal(kept)) return kept;
      const keyHeader = mail.header.control.idempotencyKey?.header;
      return unlessRepeated(once, { tenantId, idempotencyKey, bytes: LOOK_FIRST }, async () =>
        answerFor(options, kept, await acceptKept(options, kept), keyHeader),
      );
    },
    async refuseEarly({ tenantId }, key) {
      const closed = options.refuseNew?.() ?? null;
      if (closed === null || key === null) return closed;
      const isRepeated =
        (await submissions.findReceipt(tenantId, key)) !== null ||
        (await submissions.findBatch(tenantId, key)) !== null;
      return isRepeated ? null : closed;
    },
  };
}

function callOf(
  sender: Sender,
  idempotencyKey: string | null,
  { countRendered, traceParent }: Pick<SentBody<unknown>, 'countRendered' | 'traceParent'>,
): SubmitCall {
  return { sender, idempotencyKey, countRendered, traceParent };
}

const IN_DOUBT =
  'It is not known whether this was queued: the database was lost while it was being stored. Repeat the call with the same ' +
  'Idempotency-Key; without one, find out whether it was queued before you send it again.';
const UNAVAILABLE = 'The database cannot be reached right now. Nothing was queued; retry later.';
/** A failover of the database takes some seconds. */
const RETRY_AFTER_SECS = 10;

/** Checks intake before it reads the body, so that a refused call is not parsed. */
async function whenOpen<Body, Answer>(
  { refuseNew }: SubmissionOptions,
  body: SentBody<Body>,
  work: (given: Body) => Promise<Answer | Refusal>,
): Promise<Answer | Refusal> {
  const closed = refuseNew?.();
  if (closed) return closed;
  try {
    const given = await body.read();
    return isRefusal(given) ? given : await work(given);
  } catch (error) {
    if (error instanceof InDoubt) return { ...refuse('internal_error', IN_DOUBT), retryAfterSecs: RETRY_AFTER_SECS };
    if (error instanceof Unavailable)
      return { ...refuse('internal_error', UNAVAILABLE), retryAfterSecs: RETRY_AFTER_SECS };
    // The call that runs into a fault first gets the same refusal as those after it.
    const closedByNow = refuseNew?.();
    if (closedByNow) return closedByNow;
    throw error;
  }
}

async function accept(
  options: SubmissionOptions,
  call: SubmitCall,
  body: SendBody,
): Promise<SubmissionAnswer | Refusal> {
  const prepared = await prepareSubmission(options, call, body);
  if (isRefusal(prepared)) return prepared;
  const { submission, fromDomain } = prepared;
  const { traceParent } = call;
  const result = await acceptAndBegin(options, prepared, (stored) =>
    noteResult(options, submission, { result: stored, fromDomain, traceParent }),
  );
  if (result.kind === 'accepted' && !result.begun) announce(options, submission, result.lanes);
  return answerFor(options, prepared, result);
}

async function answerFor(
  options: SubmissionOptions,
  prepared: Prepared,
  result: AcceptResult,
  keyHeader = 'Idempotency-Key',
): Promise<SubmissionAnswer | Refusal> {
  switch (result.kind) {
    case 'accepted':
      return { receipt: result.receipt, replayed: false };
    case 'replayed':
      return { receipt: result.receipt, replayed: true };
    case 'key_taken':
      return refuse('validation_failed', `${keyHeader}: this key was used for a batch; choose another one.`);
    default:
      return explainedRefusal(options, prepared, result);
  }
}
