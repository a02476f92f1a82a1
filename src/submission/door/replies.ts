// What the SMTP door answers, where the words do not depend on the case. Each begins with its enhanced code (RFC 3463),
// and says what to do.

import type { SmtpReply } from '../../smtp-listener/smtp-reply.ts';
import type { LoginRefusal } from './key-logins.ts';

/** RFC 5321 section 4.5.3.1.8. */
export const MAX_RECIPIENTS = 100;

export function authRequired(offersTls: boolean): string {
  return `5.7.0 Sign in first: AUTH${offersTls ? ', after STARTTLS,' : ''} with any user name and an API key as the password`;
}

export const NO_LOGIN: LoginRefusal = {
  why: 'fault',
  code: 454,
  text: '4.7.0 The API key cannot be checked at the moment; try again later',
};
export const NOT_CHECKED: SmtpReply = { code: 451, text: '4.3.0 Temporary failure; try again later' };
export const NOT_STORED: SmtpReply = { code: 451, text: '4.3.0 The message could not be stored; try again later' };
export const NO_REQUIRETLS: SmtpReply = { code: 555, text: '5.5.4 REQUIRETLS is not supported' };
export const TOO_MANY_RECIPIENTS: SmtpReply = {
  code: 452,
  text: `4.5.3 A message has at most ${MAX_RECIPIENTS} recipients; send another one to the rest`,
};
