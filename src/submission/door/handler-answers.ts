// From what a handler of the SMTP door decides to what smtp-server expects to hear.

import { type SmtpReply, toError } from '../../smtp-listener/smtp-reply.ts';
import { NOT_CHECKED } from './replies.ts';

type AuthDone = (error: Error | null | undefined, response?: { user: string }) => void;

/** For `then` on the work of AUTH: the name of the key, or a refusal. */
export function signedIn(done: AuthDone): (answer: SmtpReply | string) => void {
  return (answer) => (typeof answer === 'string' ? done(null, { user: answer }) : done(toError(answer)));
}

type Done = (error?: Error | null) => void;

type Answer = (refusal: SmtpReply | null) => void;

/** For `then` on the work of MAIL and RCPT; null: accepted. */
export function refusing(done: Done, count: Answer): [answered: Answer, failed: () => void] {
  const answer: Answer = (refusal) => {
    count(refusal);
    done(refusal && toError(refusal));
  };
  return [answer, () => answer(NOT_CHECKED)];
}
