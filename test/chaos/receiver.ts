// The receiving server of a chaos run: takes, defers or refuses by the recipient's local part, counts each
// message at the moment of its final dot, and says which mails are to be reported later.

import type { ReceivedMail, SinkOptions, SinkReply } from '../support/mail-sink.ts';
import { isUnbroken } from '../support/sealed-mail.ts';
import { messageIdOf } from '../support/world.ts';

/** What becomes of a mail; the local part begins with it. */
export type Fate = 'plain' | 'slow' | 'full' | 'gone' | 'late' | 'spam';

/** Of 100 recipients. `slow`: deferred once at RCPT. `full`: once at the final dot. `gone`: refused. `late`: bounces later. */
const SHARES: readonly [Fate, number][] = [
  ['slow', 8],
  ['full', 5],
  ['gone', 5],
  ['late', 15],
  ['spam', 7],
];

/** Their addresses are suppressed afterwards. */
export const ENDING_BADLY: ReadonlySet<Fate> = new Set<Fate>(['gone', 'late', 'spam']);

export function drawFate(random: () => number): Fate {
  let draw = random() * 100;
  for (const [fate, share] of SHARES) {
    if (draw < share) return fate;
    draw -= share;
  }
  return 'plain';
}

export function fateOf(recipient: string): Fate {
  return recipient.slice(0, recipient.indexOf('-')) as Fate;
}

export interface ToReport {
  id: string;
  kind: 'dsn' | 'arf';
  mail: ReceivedMail;
}

export class Receiver {
  /** How often each message came. */
  readonly times = new Map<string, number>();
  readonly idsByRecipient = new Map<string, Set<string>>();
  /** Ids that came since the last kill. */
  readonly sinceKill = new Set<string>();
  /** Written mails that came with another body than theirs. */
  readonly altered: string[] = [];
  /** It hangs up on everyone. */
  isAway = false;
  readonly #deferredOnce = new Set<string>();
  readonly #report: (report: ToReport) => void;

  constructor(report: (report: ToReport) => void) {
    this.#report = report;
  }

  get options(): SinkOptions {
    return { onRcpt: (address) => this.#answer(address), onMail: (mail) => this.#take(mail) };
  }

  get deliveredTwice(): number {
    return [...this.times.values()].reduce((sum, times) => sum + times - 1, 0);
  }

  #answer(address: string): SinkReply | null {
    if (this.isAway) return 'drop';
    const fate = fateOf(address);
    if (fate === 'gone') return { code: 550, text: '5.1.1 No such user here' };
    return fate === 'slow' && this.#isFirst(address) ? { code: 452, text: '4.2.2 The mailbox is full' } : null;
  }

  #take(mail: ReceivedMail): SinkReply | null {
    if (this.isAway) return 'drop';
    const fate = fateOf(mail.to);
    if (fate === 'full' && this.#isFirst(mail.to)) return { code: 452, text: '4.2.2 The mailbox is full' };
    const id = messageIdOf(mail.raw);
    const before = this.times.get(id) ?? 0;
    this.times.set(id, before + 1);
    this.sinceKill.add(id);
    if (!isUnbroken(mail.raw)) this.altered.push(`${id} (${mail.to})`);
    this.idsByRecipient.set(mail.to, (this.idsByRecipient.get(mail.to) ?? new Set()).add(id));
    if (before === 0 && fate === 'late') this.#report({ id, kind: 'dsn', mail });
    if (before === 0 && fate === 'spam') this.#report({ id, kind: 'arf', mail });
    return null;
  }

  #isFirst(address: string): boolean {
    const isFirst = !this.#deferredOnce.has(address);
    this.#deferredOnce.add(address);
    return isFirst;
  }
}
