// What came to the receiving server, counted the moment it had the whole of a message.
import type { ReceivedMail } from '../support/mail-sink.ts';
import { patience } from '../support/patience.ts';
import { isUnbroken } from '../support/sealed-mail.ts';
import { messageIdOf } from '../support/world.ts';

const PATIENCE_MS = 20_000;

export class Arrivals {
  readonly times = new Map<string, number>();
  readonly idsByRecipient = new Map<string, Set<string>>();
  /** Ids of written mails whose body is not what it was. */
  readonly altered: string[] = [];
  #onArrival: () => void = () => {};

  get duplicates(): number {
    return [...this.times.values()].reduce((sum, times) => sum + times - 1, 0);
  }

  take(mail: ReceivedMail): null {
    const id = messageIdOf(mail.raw);
    this.times.set(id, (this.times.get(id) ?? 0) + 1);
    if (!isUnbroken(mail.raw)) this.altered.push(id);
    const ids = this.idsByRecipient.get(mail.to) ?? new Set();
    this.idsByRecipient.set(mail.to, ids.add(id));
    this.#onArrival();
    return null;
  }

  /** Waits for these, message ids or recipients; what has not come when patience ends. */
  async missing(wanted: Set<string>): Promise<string[]> {
    const missing = () => [...wanted].filter((one) => !this.times.has(one) && !this.idsByRecipient.has(one));
    const tooLate = AbortSignal.timeout(patience(PATIENCE_MS));
    while (missing().length > 0 && !tooLate.aborted) {
      await new Promise<void>((resolve) => {
        this.#onArrival = resolve;
        tooLate.addEventListener('abort', () => resolve());
      });
    }
    return missing();
  }
}
