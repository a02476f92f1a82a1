// Stores received mail before its 250, and records refused mail for the operator. Mail is not processed
// here.

import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import type { Logger } from '../observe/log.ts';
import type { SmtpReply } from '../smtp-listener/smtp-reply.ts';
import type { ContentQuota, InboundReception, NewInboundMail } from '../store/inbound.ts';
import type { StoreVerbs } from '../store/store.ts';
import type { Received, Refusal } from './reception.ts';

export interface MailKeeperKit {
  store: StoreVerbs<{ inbound: 'keepInbound' | 'noteRefusedInbound' }>;
  /** Called when a mail was stored, in a slot of this node's or of another one. */
  onKept(slot: number | undefined, of: ContentQuota['of']): void;
  /** Called with the outcome of each mail that was received up to its final dot, or cut off before. */
  onReceived?(outcome: ReceptionOutcome): void;
  clock: Clock;
  ids: IdSource;
  log: Logger;
}

/** `cut`: kept without its end. */
export type ReceptionOutcome = 'kept' | 'cut' | 'not_stored' | Refusal;

export type Envelope = Omit<InboundReception, 'id' | 'receivedAt'>;

const TOO_MUCH_WAITS: SmtpReply = { code: 452, text: '4.2.2 Too much mail for this address waits; try again later' };
export const NOT_STORED: SmtpReply = { code: 451, text: '4.3.0 The mail could not be stored; try again later' };

export class MailKeeper {
  readonly #kit: MailKeeperKit;

  constructor(kit: MailKeeperKit) {
    this.#kit = kit;
  }

  /** Returns the reply to the sender: 250 when the mail is on disk. */
  async keep(
    { content, sizeBytes }: Extract<Received, { kind: 'mail' }>,
    { envelope, place }: { envelope: Envelope; place: ContentQuota },
  ): Promise<SmtpReply> {
    const { store, ids, clock, log, onKept, onReceived } = this.#kit;
    const mail: NewInboundMail = { id: ids.next(), receivedAt: clock.now(), ...envelope, content };
    try {
      if ((await store.inbound.keepInbound(mail, place)) === 'full') {
        onReceived?.('no_room');
        return TOO_MUCH_WAITS;
      }
    } catch (error) {
      log.error({ error }, `an inbound mail could not be stored: ${describeError(error)}`);
      onReceived?.('not_stored');
      return NOT_STORED;
    }
    const isCut = content.length < sizeBytes;
    if (isCut) {
      const facts = { inbound_id: mail.id, kept_octets: content.length, size_octets: sizeBytes };
      log.info(
        { fact: 'inbound_cut', ...facts, remote_ip: envelope.remoteIp },
        'large inbound mail: its end was dropped',
      );
    }
    onReceived?.(isCut ? 'cut' : 'kept');
    onKept(mail.slot, place.of);
    return { code: 250, text: `2.0.0 Ok: kept as ${mail.id}` };
  }

  /** Records a refusal, so that the operator can see it: the sender may not report it to anyone. */
  async noteRefused(refused: Extract<Received, { kind: 'refused' }>, envelope: Envelope): Promise<void> {
    const { store, ids, clock, log, onReceived } = this.#kit;
    const { why, sizeBytes } = refused;
    const reply = `${refused.reply.code} ${refused.reply.text}`;
    onReceived?.(why);
    log.info({ fact: 'inbound_refused', why, remote_ip: envelope.remoteIp, reply }, 'inbound mail rejected');
    // The sender retries automatically, and recording it would need the space that is missing.
    if (why === 'no_room') return;
    const mail = { id: ids.next(), receivedAt: clock.now(), ...envelope, sizeBytes, reply };
    try {
      await store.inbound.noteRefusedInbound(mail);
    } catch (error) {
      log.error({ error }, `a rejected mail could not be recorded: ${describeError(error)}`);
    }
  }
}
