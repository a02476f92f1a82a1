// Processes one inbound mail, records the result in one verb, then logs it and notifies `onRecorded` of what
// was actually done.

import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../observe/log.ts';
import * as mailLog from '../observe/mail-log.ts';
import type { InboundOutcome, InboundResult, ReportedMessage, WaitingInboundMail } from '../store/inbound.ts';
import type { Ownership } from '../store/ownership.ts';
import type { StoreVerbs } from '../store/store.ts';
import type { ProcessedMail } from './process-mail.ts';

export interface MailWorkKit {
  store: StoreVerbs<{ inbound: 'recordInbound' }>;
  ownership: Ownership;
  process(mail: WaitingInboundMail, mayDefer: boolean): Promise<ProcessedMail>;
  /** Called after the commit, with what was actually done. */
  onRecorded?(recorded: Recorded): void;
  clock: Clock;
  log: Logger;
}

export interface Recorded {
  mail: WaitingInboundMail;
  update: InboundOutcome;
  message: ReportedMessage | null;
  result: Extract<InboundResult, { kind: 'recorded' }>;
}

export type Worked =
  | { kind: 'done' }
  /** It must be processed again a moment later. */
  | { kind: 'later' }
  /** It still waits in the store. */
  | { kind: 'failed'; error: unknown; storeFails: boolean };

type UnchangedReason = Extract<InboundResult, { kind: 'unchanged' }>['why'];

const WHY_DROPPED: Record<UnchangedReason, string> = {
  processed: 'it had been processed before',
  not_owner: 'another node owns its slot',
};

/** A mail that fails this often, while the store works, is itself the cause. */
const MAX_FAULTS = 10;

export class MailWork {
  readonly #kit: MailWorkKit;
  /** How often each failing mail has failed, by its seq. */
  readonly #faults = new Map<number, number>();

  constructor(kit: MailWorkKit) {
    this.#kit = kit;
  }

  /** `mayDefer`: whether it may be processed later. */
  async workOn(mail: WaitingInboundMail, mayDefer: boolean): Promise<Worked> {
    const { store, ownership, clock, onRecorded } = this.#kit;
    const owner = ownership.of(mail.slot);
    if (owner === null) return this.#drop(mail, 'not_owner');
    let outcome: ProcessedMail;
    try {
      outcome = await this.#kit.process(mail, mayDefer);
    } catch (error) {
      const given = this.#giveUp(mail, error);
      if (given === null) return { kind: 'failed', error, storeFails: false };
      outcome = given;
    }
    if (outcome.kind === 'later') return { kind: 'later' };
    const { update, message } = outcome;
    let result: InboundResult;
    try {
      result = await store.inbound.recordInbound({ ...update, seq: mail.seq, at: clock.now(), owner });
    } catch (error) {
      return { kind: 'failed', error, storeFails: true };
    }
    if (result.kind === 'unchanged') return this.#drop(mail, result.why);
    this.#faults.delete(mail.seq);
    const recorded = { mail, update, message, result };
    this.#log(recorded);
    onRecorded?.(recorded);
    return { kind: 'done' };
  }

  /** Somebody else has processed the mail, or will: nothing was written, so nobody is notified. */
  #drop({ id, seq }: WaitingInboundMail, why: UnchangedReason): Worked {
    this.#faults.delete(seq);
    this.#kit.log.info({ inbound_id: id }, `the result for an inbound mail was dropped: ${WHY_DROPPED[why]}`);
    return { kind: 'done' };
  }

  /** Gives up at some point: a mail that can't be processed would be retried every second for ever. */
  #giveUp({ seq }: WaitingInboundMail, error: unknown): Extract<ProcessedMail, { kind: 'done' }> | null {
    const faults = (this.#faults.get(seq) ?? 0) + 1;
    this.#faults.set(seq, faults);
    if (faults < MAX_FAULTS) return null;
    const reason = `processing failed ${faults} times: ${describeError(error)}`;
    const nothing = { digest: null, messageId: null, tenantId: null, finding: {} };
    const verdict = { kind: 'unreadable', effect: 'kept', reason, ...nothing } as const;
    return { kind: 'done', update: { verdict, action: null }, message: null };
  }

  #log({ mail, update, message, result }: Recorded): void {
    const { log } = this.#kit;
    const { verdict, action } = update;
    const { effect, reason } = result;
    const facts = { inbound_id: mail.id, kind: verdict.kind, effect, reason, message_id: verdict.messageId };
    log.info({ fact: 'inbound', ...facts, remote_ip: mail.remoteIp }, 'inbound mail');
    if (!message || effect === 'none') return;
    if (action?.do === 'bounce') {
      const { bounce, suppress } = action;
      mailLog.bounced(log, message, { attempt: null, source: 'dsn', bounce, reason, suppressed: suppress !== null });
    } else if (action?.do === 'complaint') {
      mailLog.complained(log, message, { source: 'arf', suppressed: action.suppressionKey !== null });
    } else if (action?.do === 'unsubscribe') {
      mailLog.unsubscribed(log, message);
    }
  }
}
