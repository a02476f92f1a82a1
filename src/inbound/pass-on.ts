// Mail that people write to postmaster, abuse and fbl: stored, and forwarded to the operator as text. Not
// forwarded, to avoid loops: mail from programs, mail without a sender, and mail that we have forwarded
// before.
import { type Clock, HOUR_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { oneLine } from '../base/text/one-line.ts';
import type { Logger } from '../observe/log.ts';
import { addressesIn } from '../protocol/mail/inbound/addresses-in-text.ts';
import { type ReadMail, readMail, textOf } from '../protocol/mail/inbound/mail-parts.ts';
import { plainTextOf } from '../protocol/mail/inbound/report-text.ts';
import type { WaitingInboundMail } from '../store/inbound.ts';
import type { PassedOn } from './process-mail.ts';
import { type RecipientBook, type Role, recognise } from './recipients.ts';

export interface PassOnKit {
  /** Null: mail is only stored. */
  operatorAddress: string | null;
  recipients: RecipientBook;
  clock: Clock;
  log: Logger;
  send(mail: {
    to: string;
    subject: string;
    text: string;
    headers: [name: string, value: string][];
    key: string;
  }): Promise<{ kind: 'queued' } | { kind: 'refused'; reason: string }>;
}

export interface HumanFacts {
  role: Role;
  from: string;
  subject: string;
}

/** Marks mail that we have forwarded. */
const MARK = 'X-Postrider-Forwarded';
/** RFC 5321 section 6.3 counts Received fields to find loops; honest mail has fewer than ten. */
const MAX_RECEIVED = 25;
const MAX_PER_HOUR = 100;
const MAX_TEXT_CHARACTERS = 64 * 1024;

export class PassOn {
  readonly #kit: PassOnKit;
  #hourStartedAt = 0;
  #inThisHour = 0;

  constructor(kit: PassOnKit) {
    this.#kit = kit;
  }

  async take(mail: WaitingInboundMail, about: HumanFacts): Promise<PassedOn> {
    const read = readMail(mail.content);
    const objection = objectionTo(mail, read, this.#kit) ?? this.#objectionOfTime();
    const { operatorAddress, log, send } = this.#kit;
    if (objection !== null || operatorAddress === null) return kept(about.role, objection);
    try {
      const sent = await send({
        to: operatorAddress,
        subject: `[${about.role}] ${about.subject}`,
        text: textFor(mail, read, about),
        headers: [[MARK, mail.id], ...replyTo(about.from)],
        key: `passed-on:${mail.id}`,
      });
      if (sent.kind === 'refused') return kept(about.role, sent.reason);
      this.#inThisHour++;
      return { effect: 'forwarded', reason: `mail to ${about.role}, forwarded to ${operatorAddress}` };
    } catch (error) {
      log.error({ error, inbound_id: mail.id }, `a mail could not be forwarded: ${describeError(error)}`);
      return kept(about.role, `it could not be forwarded: ${describeError(error)}`);
    }
  }

  #objectionOfTime(): string | null {
    const now = this.#kit.clock.now();
    if (now - this.#hourStartedAt >= HOUR_MS) [this.#hourStartedAt, this.#inThisHour] = [now, 0];
    return this.#inThisHour < MAX_PER_HOUR ? null : `${MAX_PER_HOUR} mails were forwarded within the hour`;
  }
}

function objectionTo(mail: WaitingInboundMail, { header }: ReadMail, kit: PassOnKit): string | null {
  const { operatorAddress, recipients } = kit;
  if (operatorAddress === null) return 'service.operator_address is not set';
  const leadsBack =
    operatorAddress.toLowerCase().endsWith(`@${recipients.bouncesDomain}`) ||
    recognise(operatorAddress, recipients).kind !== 'unknown';
  if (leadsBack) return 'service.operator_address is delivered to this server';
  if (mail.mailFrom === '') return 'its sender is empty, so a program wrote it';
  const submitted = header.raw('auto-submitted');
  if (submitted !== null && !/^\s*no\b/i.test(submitted)) return 'a program wrote it (Auto-Submitted)';
  if (header.has(MARK.toLowerCase())) return 'it was forwarded before and came back';
  const received = header.fields.filter(({ name }) => name === 'received').length;
  return received > MAX_RECEIVED ? 'it passed through too many servers, probably in a loop' : null;
}

function kept(role: Role, why: string | null): PassedOn {
  return { effect: 'kept', reason: `mail to ${role}, kept${why === null ? '' : `: ${why}`}` };
}

function replyTo(from: string): [string, string][] {
  const [address] = addressesIn(from);
  return address === undefined || /[^\x21-\x7e]/.test(address) ? [] : [['Reply-To', address]];
}

function textFor(mail: WaitingInboundMail, { header, parts }: ReadMail, { from }: HumanFacts): string {
  const plain = parts.find(({ type }) => type === 'text/plain');
  const html = parts.find(({ type }) => type === 'text/html');
  const text = plain ? textOf(plain) : html ? plainTextOf(textOf(html)) : '(no text)';
  const others = parts.filter((part) => part !== plain && part !== html).map(({ type }) => type);
  return [
    `From: ${oneLine(from)}`,
    `To: ${mail.recipients.join(', ')}`,
    `Date: ${oneLine(header.text('date'))}`,
    `Subject: ${oneLine(header.text('subject'))}`,
    ...(others.length > 0 ? [`Other parts: ${oneLine(others.join(', '))}`] : []),
    `Full mail: postrider inbound show ${mail.id} --raw`,
    '',
    printable(text.slice(0, MAX_TEXT_CHARACTERS)),
  ].join('\n');
}

/** Replaces NUL and other control characters, which inbound mail may contain and ours must not. */
function printable(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, '\ufffd');
}
