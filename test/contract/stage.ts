// What the cases of the contract suite play on: one world, two tenants that send, and the mail
// that arrives, found by its id.
import { type AddressObject, type ParsedMail, simpleParser } from 'mailparser';
import type { Test } from 'tap';
import type { ReceivedMail } from '../support/mail-sink.ts';
import { patience } from '../support/patience.ts';
import { messageIdOf, RECEIVER } from '../support/world.ts';
import type { Answer } from './contract-client.ts';
import { type ContractWorld, type ContractWorldOptions, type Sender, startContractWorld } from './contract-world.ts';

const PATIENCE_MS = 20_000;

/** A receiving server's mail by the id in its Message-ID. */
export class Inbox {
  readonly #mails = new Map<string, ReceivedMail>();
  readonly #waiting = new Map<string, (mail: ReceivedMail) => void>();

  /** For the receiving server: keeps the mail and has no objection. */
  readonly take = (mail: ReceivedMail): null => {
    const id = messageIdOf(mail.raw);
    this.#mails.set(id, mail);
    this.#waiting.get(id)?.(mail);
    return null;
  };

  get size(): number {
    return this.#mails.size;
  }

  async mail(messageId: string): Promise<ReceivedMail> {
    const known = this.#mails.get(messageId);
    if (known) return known;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${messageId} did not arrive`)), patience(PATIENCE_MS));
      this.#waiting.set(messageId, (mail) => {
        clearTimeout(timer);
        resolve(mail);
      });
    });
  }

  async parsed(messageId: string): Promise<ParsedMail> {
    const { raw } = await this.mail(messageId);
    return simpleParser(raw, { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true });
  }
}

export interface Stage {
  world: ContractWorld;
  inbox: Inbox;
  acme: Sender;
  rival: Sender;
  /** POST /emails of acme, from a body that is good except for the change. */
  send(change?: Record<string, unknown>, headers?: Record<string, string | undefined>): Promise<Answer>;
  /** The same, which must be accepted for one recipient: what arrived. */
  arrival(change: Record<string, unknown>): Promise<ParsedMail>;
  /** How it ended with a message. */
  fate(messageId: string): Promise<Fate>;
}

const FATES = ['delivered', 'bounced', 'failed'] as const;
export type Fate = (typeof FATES)[number];

/** A send request that nothing is wrong with, as far as the tenant has the domain. */
export function goodMail(domain: string): Record<string, unknown> {
  return { from: `app@${domain}`, to: `jo@${RECEIVER}`, subject: 'Hello', text: 'Hello there.' };
}

/** As `send_at` takes it. */
export function inHours(hours: number): string {
  return new Date(Date.now() + hours * 3_600_000).toISOString();
}

export async function setStage(t: Test, options: ContractWorldOptions = {}): Promise<Stage> {
  const inbox = new Inbox();
  const world = await startContractWorld(t, { ...options, sink: { onMail: inbox.take, ...options.sink } });
  const [acme, rival] = await Promise.all([world.addSender('acme.test'), world.addSender('rival.test')]);
  const send: Stage['send'] = (change = {}, headers = {}) =>
    world.call('POST /emails', { key: acme.key, body: { ...goodMail(acme.domain), ...change }, headers });
  return {
    ...{ world, inbox, acme, rival, send },
    async arrival(change) {
      const { status, body } = await send(change);
      if (status !== 202 || body.message_ids.length !== 1) throw new Error(`${status} ${JSON.stringify(body)}`);
      return inbox.parsed(body.message_ids[0]);
    },
    async fate(messageId) {
      const { daemon } = world;
      const seen = () => FATES.find((fact) => daemon.find({ fact, message_id: messageId }).length > 0);
      await daemon.until(() => seen() !== undefined, `finish ${messageId}`);
      return seen()!;
    },
  };
}

/** `jo@receiver.test` for the To of a parsed message. */
export function addressOf(field: AddressObject | AddressObject[] | undefined): string | undefined {
  return [field].flat()[0]?.value[0]?.address;
}

/** Asserts a refusal, its status and what its message begins with or says. */
export function refused(t: Test, answer: Answer, expected: { code: string; message?: RegExp; about?: string }): void {
  const { code, message = /./, about = code } = expected;
  t.match({ error: answer.body?.error, message: answer.body?.message }, { error: code, message }, about);
}
