// The consequence of a complaint: one pure decision, with its reason. A complaint counts only with a proof
// of ours: a return path, a CFBL-Feedback-ID, or an original whose signature verifies.
import type { ReportedMessage } from '../store/inbound.ts';

/** What proves that a complaint is about one of our messages. */
export type Proof = 'return_path' | 'embedded_return_path' | 'feedback_id' | 'signature';

export type ComplaintDecision =
  | { decision: 'complaint'; reason: string; suppressAs: 'complaint' | 'unsubscribe' | null }
  | { decision: 'nothing'; reason: string };

export interface ComplaintCase {
  feedbackType: string;
  /** Null: the complaint proves nothing. */
  proof: Proof | null;
  message: ReportedMessage | null;
  /** It is about mail of the service itself: password resets, invitations, notices. */
  ofService: boolean;
}

const PROOFS: Readonly<Record<Proof, string>> = {
  return_path: "it was sent to the message's return path",
  embedded_return_path: 'the original has our return path',
  feedback_id: 'the original has our CFBL-Feedback-ID',
  signature: 'the signature of the original verifies',
};

/** Feedback types that are not a recipient's complaint: RFC 6430 withdraws one, RFC 6591 reports failed checks. */
const NOT_A_COMPLAINT: Readonly<Record<string, string>> = {
  'not-spam': 'the recipient says that it is not spam',
  'auth-failure': "it reports a failed SPF, DKIM or DMARC check, not a recipient's complaint",
  dmarc: "it reports a failed SPF, DKIM or DMARC check, not a recipient's complaint",
};

const OPT_OUT = new Set(['opt-out', 'opt-out-list', 'unsubscribe']);

export function decideComplaint({ feedbackType, proof, message, ofService }: ComplaintCase): ComplaintDecision {
  const notComplaint = NOT_A_COMPLAINT[feedbackType];
  if (notComplaint !== undefined) return { decision: 'nothing', reason: notComplaint };
  if (proof === null) {
    return {
      decision: 'nothing',
      reason: 'nothing in it proves that we sent the message, so no address is suppressed',
    };
  }
  if (message === null) return { decision: 'nothing', reason: 'the message it refers to is no longer stored' };
  const suppressAs = OPT_OUT.has(feedbackType) ? 'unsubscribe' : 'complaint';
  const what = suppressAs === 'unsubscribe' ? 'the recipient opted out' : `a complaint of type ${feedbackType}`;
  const reason = `${what}; ${PROOFS[proof]}`;
  if (!ofService) return { decision: 'complaint', reason, suppressAs };
  const kept = 'no address is suppressed, because password resets and invitations are sent this way';
  return { decision: 'complaint', reason: `${reason}; ${kept}`, suppressAs: null };
}
