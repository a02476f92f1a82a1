// Accepts many submissions with one call and in one transaction: all of them or none, or, where the caller wants that,
// all that are good.
import { isRefusal, type Refusal, refuse } from '../base/refusals.ts';
import type { BatchEntry, BatchItem } from '../store/submissions.ts';
import {
  announce,
  type CountRendered,
  explainedRefusal,
  noteResult,
  type Prepared,
  prepareSubmission,
  refusalOf,
  type SubmissionOptions,
  type SubmitCall,
} from './prepare-submission.ts';
import type { SendBody } from './send-request.ts';

export interface BatchBody {
  /** Each is checked by itself, so that one that is wrong can be named or skipped. */
  emails: readonly (SendBody | Refusal)[];
  skipsRefused: boolean;
}

/** By the order of the call. */
export type BatchReceipt = BatchItem[];

export interface Batches {
  accept(call: SubmitCall, body: BatchBody): Promise<{ receipt: BatchReceipt; replayed: boolean } | Refusal>;
}

const MAX_RECIPIENTS = 1000;
/**
 * Of what templates make, since one transaction writes it all while others wait: twice what a body may bring, or a
 * hundred messages of the 102 KiB at which Gmail cuts one off.
 */
const MAX_RENDERED_MIB = 10;

export function createBatches(options: SubmissionOptions): Batches {
  const { store, clock } = options;
  return {
    async accept(call, { emails, skipsRefused }) {
      const prepared: (Prepared | Refusal)[] = [];
      const countRendered = countUpTo(MAX_RENDERED_MIB * 1024 * 1024, call.countRendered);
      let recipients = 0;
      for (const [index, email] of emails.entries()) {
        // A key of the batch covers all of it.
        const one = isRefusal(email)
          ? email
          : await prepareSubmission(options, { sender: call.sender, idempotencyKey: null, countRendered }, email);
        // Our own trouble is none of the email's: kept as its result, it would be the answer to every repeated call.
        if (isRefusal(one) && one.refused === 'internal_error') return one;
        if (isRefusal(one) && !skipsRefused) return atIndex(one, index);
        recipients += isRefusal(one) ? 0 : one.submission.recipients.length;
        if (recipients > MAX_RECIPIENTS) return tooMany();
        prepared.push(one);
      }
      const result = await store.submissions.acceptBatch({
        tenantId: call.sender.tenantId,
        idempotencyKey: call.idempotencyKey,
        acceptedAt: clock.now(),
        entries: prepared.map(entryOf),
        skipsRefused,
      });
      switch (result.kind) {
        case 'replayed':
          return { receipt: result.items, replayed: true };
        case 'key_taken':
          return refuse(
            'validation_failed',
            'Idempotency-Key: this key was used for a single call; choose another one.',
          );
        case 'refused': {
          const refused = prepared[result.index] as Prepared;
          return atIndex(await explainedRefusal(options, refused, result.why), result.index);
        }
        case 'accepted': {
          for (const [index, one] of prepared.entries()) {
            const accepted = result.results[index];
            if (!accepted || isRefusal(one)) continue;
            const { traceParent } = call;
            noteResult(options, one.submission, { result: accepted, fromDomain: one.fromDomain, traceParent });
            if (accepted.kind === 'accepted') announce(options, one.submission, accepted.lanes);
          }
          return { receipt: result.items, replayed: false };
        }
      }
    },
  };
}

/** What is over the limit is not kept, and a smaller one after it may still fit. */
function countUpTo(maxBytes: number, count: CountRendered = () => null): CountRendered {
  let kept = 0;
  return (bytes) => {
    if (kept + bytes > maxBytes) return tooMuchRendered();
    kept += bytes;
    return count(bytes);
  };
}

function entryOf(prepared: Prepared | Refusal): BatchEntry {
  if (isRefusal(prepared)) return { kind: 'refused', error: prepared.refused, message: prepared.message };
  const { submission, fromDomain } = prepared;
  return { kind: 'submission', submission, refusalOf: wordsOf(fromDomain) };
}

/** What the store may refuse, in words: it keeps what was answered, for a repeated call. */
function wordsOf(fromDomain: string) {
  const words = (kind: Parameters<typeof refusalOf>[0]) => {
    const { refused, message } = refusalOf(kind, fromDomain);
    return { error: refused, message };
  };
  return {
    all_suppressed: words('all_suppressed'),
    domain_not_verified: words('domain_not_verified'),
    tenant_not_active: words('tenant_not_active'),
  };
}

function atIndex(refusal: Refusal, index: number): Refusal {
  return { ...refusal, extra: { ...refusal.extra, index } };
}

function tooMany(): Refusal {
  return refuse('validation_failed', `emails: must have at most ${MAX_RECIPIENTS} recipients in all.`);
}

function tooMuchRendered(): Refusal {
  return refuse(
    'validation_failed',
    `template_id: the emails of a batch may render to at most ${MAX_RENDERED_MIB} MiB in all. Send the rest in another batch.`,
  );
}
