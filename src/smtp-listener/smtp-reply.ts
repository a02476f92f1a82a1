// Replies of SMTP handlers, in the form that smtp-server expects: an Error for a refusal, the text after 250 otherwise.

export interface SmtpReply {
  code: number;
  /** Begins with an enhanced code (RFC 3463). */
  text: string;
}

export function toError({ code, text }: SmtpReply): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

type Done = (error?: Error | null, message?: string) => void;

/** For `then` on a handler's work. What it throws was a lost connection, which needs no answer, or is temporary. */
export function answering(
  done: Done,
  failed: SmtpReply,
): [answered: (answer: string | Error) => void, failed: () => void] {
  return [(answer) => (typeof answer === 'string' ? done(null, answer) : done(answer)), () => done(toError(failed))];
}
