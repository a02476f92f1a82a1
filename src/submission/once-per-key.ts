// A call with an idempotency key is accepted once: repeated calls get the receipt of the first.
import { isRefusal, type Refusal } from '../base/refusals.ts';
import { IdempotencyGate } from './idempotency-gate.ts';

export interface Once<Receipt> {
  receipt: Receipt;
  replayed: boolean;
}

export interface KeyedCall {
  tenantId: string;
  idempotencyKey: string;
  /** Of its body. */
  bytes: number;
}

/**
 * Nearly every call is new, and the insert itself detects the others: looking for a receipt first
 * costs more than it saves, unless the body is large.
 */
const LOOK_FIRST_BYTES = 32 * 1024;

export class OncePerKey<Receipt> {
  readonly #gate = new IdempotencyGate<Receipt>();
  readonly #find: (tenantId: string, idempotencyKey: string) => Promise<Receipt | null>;

  /** `find` looks for the receipt of an earlier call. */
  constructor(find: (tenantId: string, idempotencyKey: string) => Promise<Receipt | null>) {
    this.#find = find;
  }

  async run(call: KeyedCall, work: () => Promise<Once<Receipt> | Refusal>): Promise<Once<Receipt> | Refusal> {
    const { tenantId, idempotencyKey, bytes } = call;
    const gateKey = `${tenantId} ${idempotencyKey}`;
    const others = await this.#gate.enter(gateKey);
    if (others) return { receipt: others, replayed: true };
    let receipt: Receipt | null = null;
    const replay = async () => {
      const earlier = await this.#find(tenantId, idempotencyKey);
      return earlier && { receipt: earlier, replayed: true };
    };
    try {
      const answer = await (bytes >= LOOK_FIRST_BYTES ? orElse(replay, work) : unlessReplay(work, replay));
      if (!isRefusal(answer)) receipt = answer.receipt;
      return answer;
    } finally {
      this.#gate.leave(gateKey, receipt);
    }
  }
}

async function orElse<Outcome>(replay: () => Promise<Outcome | null>, work: () => Promise<Outcome>): Promise<Outcome> {
  return (await replay()) ?? work();
}

/** A repeated call gets its receipt even if it is invalid now, or the service has a fault. */
async function unlessReplay<Outcome extends object>(
  work: () => Promise<Outcome>,
  replay: () => Promise<Outcome | null>,
): Promise<Outcome> {
  try {
    const answer = await work();
    return isRefusal(answer) ? ((await replay()) ?? answer) : answer;
  } catch (error) {
    const earlier = await replay();
    if (earlier) return earlier;
    throw error;
  }
}
