// What happens at the SMTP door, in few words, for the metrics: each step has a fixed set of outcomes, so that nothing a
// client sends becomes a label.

import type { SmtpReply } from '../../smtp-listener/smtp-reply.ts';

export type DoorStep = 'connection' | 'login' | 'recipient' | 'mail';

export type CountAtDoor = (step: DoorStep, outcome: string) => void;

/** How an AUTH ended. */
export type LoginOutcome =
  | 'accepted'
  | 'wrong_key'
  | 'throttled'
  | 'no_scope'
  | 'inactive'
  | 'too_many_connections'
  | 'fault';

const OF_RECIPIENT: Readonly<Record<string, string>> = {
  '550 5.1.1': 'suppressed',
  '553 5.1.3': 'invalid',
  '452 4.5.3': 'too_many',
  '451 4.3.0': 'fault',
};

/** From MAIL FROM, where most temporary refusals come, to the reply to the final dot. */
const OF_MAIL: Readonly<Record<string, string>> = {
  '550 5.6.0': 'malformed',
  '550 5.7.1': 'sender_not_allowed',
  '550 5.1.1': 'suppressed',
  '552 5.3.4': 'too_large',
  '421 4.7.0': 'key_revoked',
  '451 4.7.1': 'over_rate',
  '454 4.7.0': 'inactive',
  '451 4.3.2': 'intake_closed',
  '452 4.3.1': 'no_room',
  '451 4.3.0': 'fault',
};

/** Null: accepted. */
export function recipientOutcome(refusal: SmtpReply | null): string {
  return refusal === null ? 'accepted' : (OF_RECIPIENT[codesOf(refusal)] ?? 'other');
}

export function mailOutcome(reply: SmtpReply): string {
  return reply.code === 250 ? 'accepted' : (OF_MAIL[codesOf(reply)] ?? 'other');
}

function codesOf({ code, text }: SmtpReply): string {
  return `${code} ${text.slice(0, text.indexOf(' '))}`;
}
