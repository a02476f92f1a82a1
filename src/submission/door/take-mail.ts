// One mail from the wire to the disk: its header is read, its body is stored in pieces while it comes in, and a last
// transaction makes it count. The 250 leaves after that commit.
import type { Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import { isRefusal, type Refusal, refuse } from '../../base/refusals.ts';
import { LineFitter } from '../../protocol/mail/written/fit-lines.ts';
import { withTransferEncoding } from '../../protocol/mail/written/re-encode.ts';
import { WrittenBody } from '../../protocol/mail/written/written-body.ts';
import { readWrittenHeader, type WrittenHeader } from '../../protocol/mail/written/written-header.ts';
import type { SmtpReply } from '../../smtp-listener/smtp-reply.ts';
import type { Store } from '../../store/store.ts';
import type { NewWrittenMail } from '../../store/written-mails.ts';
import type { Submission } from '../submit.ts';
import type { TakeMail } from './arriving-mail.ts';
import { MailPieces } from './mail-pieces.ts';

export interface TakeMailOptions {
  store: Pick<Store, 'writtenMails'>;
  submission: Pick<Submission, 'submitWritten'>;
  clock: Clock;
  ids: IdSource;
}

export function createTakeMail({ store, submission, clock, ids }: TakeMailOptions): TakeMail {
  return async ({ sender, recipients }, content) => {
    const id = ids.next();
    const chunks = content[Symbol.asyncIterator]();
    const start = await readStart(chunks);
    if ('problem' in start) return badMail(start.problem);
    const header = readWrittenHeader(start.header, { date: new Date(clock.now()), id });
    if ('problem' in header) return badMail(header.problem);
    const pieces = new MailPieces(store.writtenMails, { tenantId: sender.tenantId, id, clock });
    const keepBody = () => keep(start, chunks, { header, pieces });
    let isKept = false;
    try {
      const answer = await submission.submitWritten({ id, sender, recipients, header, keepBody });
      if (isRefusal(answer)) return replyOf(answer);
      isKept = !answer.replayed;
      return { code: 250, text: `2.0.0 Ok: queued as ${answer.receipt.id}` };
    } finally {
      if (!isKept) await pieces.drop();
    }
  };
}

function badMail(problem: string): SmtpReply {
  return { code: 550, text: `5.6.0 ${problem}` };
}

interface Start {
  /** With the empty line at its end. */
  header: Buffer;
  /** What came of the body with it. */
  rest: Buffer;
}

const HEADER_END = Buffer.from('\r\n\r\n');
const CRLF = Buffer.from('\r\n');
const MAX_HEADER_BYTES = 256 * 1024;

async function readStart(chunks: AsyncIterator<Buffer>): Promise<Start | { problem: string }> {
  let bytes: Buffer = Buffer.alloc(0);
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    const from = Math.max(0, bytes.length - HEADER_END.length + 1);
    bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value]);
    const end = bytes.indexOf(HEADER_END, from);
    const headerBytes = end < 0 ? bytes.length : end + HEADER_END.length;
    if (headerBytes > MAX_HEADER_BYTES) {
      return { problem: `The header is longer than ${MAX_HEADER_BYTES / 1024} KiB, or has no empty line at its end.` };
    }
    if (end >= 0) return { header: bytes.subarray(0, headerBytes), rest: bytes.subarray(headerBytes) };
  }
  // RFC 5322 section 3.5: a mail may have no body, and then needs no empty line.
  return { header: Buffer.concat([bytes, CRLF]), rest: Buffer.alloc(0) };
}

interface Keeping {
  header: WrittenHeader;
  pieces: MailPieces;
}

async function keep(
  { rest }: Start,
  chunks: AsyncIterator<Buffer>,
  { header, pieces }: Keeping,
): Promise<NewWrittenMail | Refusal> {
  const fitter = new LineFitter(header);
  const body = new WrittenBody();
  const take = async (fitting: readonly Buffer[]) => {
    for (const bytes of fitting) {
      body.push(bytes);
      await pieces.add(bytes);
    }
  };
  await take(fitter.push(rest));
  while (fitter.problem === null) {
    const next = await chunks.next();
    if (next.done) break;
    await take(fitter.push(next.value));
  }
  await take(fitter.end());
  if (fitter.problem !== null) return refuse('validation_failed', fitter.problem);
  const facts = { messageId: header.messageId, ...body.end(), ...pieces.takeAll() };
  return { source: 'smtp', header: leavingHeader(header, fitter), ...facts };
}

function leavingHeader({ leaving }: WrittenHeader, { encoding }: LineFitter): Buffer {
  return encoding === null ? leaving : withTransferEncoding(leaving, encoding);
}

/** The refusals of a submission, which the API answers with a status, as SMTP says them. */
function replyOf({ refused, message, retryAfterSecs }: Refusal): SmtpReply {
  switch (refused) {
    case 'domain_not_allowed':
    case 'domain_not_verified':
      return { code: 550, text: `5.7.1 ${message}` };
    case 'tenant_not_active':
      return { code: 454, text: `4.7.0 ${message}` };
    case 'all_recipients_suppressed':
      return { code: 550, text: `5.1.1 ${message}` };
    case 'internal_error':
      return { code: 451, text: `4.3.2 ${message}${retryAfterSecs ? ` Try again in ${retryAfterSecs} s.` : ''}` };
    default:
      return badMail(message);
  }
}
