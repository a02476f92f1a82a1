// Sends one question to a list of recursive servers until one answers: in turn, with growing timeouts and one deadline
// over all. Limits the number of open sockets; the resolver caches.
import { type DnsServer, type ExchangeResult, exchange, formatServer } from './exchange.ts';
import { type DnsAnswer, RCODE, type RecordType, rcodeName } from './wire.ts';

export interface ServerPoolOptions {
  servers: DnsServer[];
  /** Over all servers and rounds, once a slot is free. */
  timeoutMs: number;
  /** For one server in the first round; doubled with every round. */
  attemptTimeoutMs: number;
  maxConcurrent: number;
}

export type PoolReply = { kind: 'answer'; answer: DnsAnswer } | { kind: 'unavailable'; reason: string };

export interface ServerPool {
  ask(name: string, type: RecordType): Promise<PoolReply>;
}

type Verdict = { kind: 'answer'; answer: DnsAnswer } | { kind: 'failed'; reason: string; retry: boolean };

const ROUNDS = 3;
/** The wait for a free slot ends after so many times the longest question. */
const MAX_WAITS = 3;

export function createServerPool(options: ServerPoolOptions): ServerPool {
  const { servers, attemptTimeoutMs } = options;
  const slots = createSemaphore(options.maxConcurrent);
  // The server that answered last comes first, so that a dead one costs its timeout only once.
  let preferred = servers[0];

  async function ask(name: string, type: RecordType, deadline: number): Promise<PoolReply> {
    if (preferred === undefined) return { kind: 'unavailable', reason: 'no DNS server is configured' };
    const failures = new Map<DnsServer, string>();
    let open = [preferred, ...servers.filter((server) => server !== preferred)];
    for (let round = 0; round < ROUNDS; round++) {
      const next: DnsServer[] = [];
      for (const server of open) {
        const leftMs = deadline - performance.now();
        if (leftMs <= 0) return unavailable(name, type, failures);
        const attemptMs = Math.min(attemptTimeoutMs * 2 ** round, leftMs);
        const verdict = judge(await exchange({ server, name, type, recursive: true, timeoutMs: attemptMs }));
        if (verdict.kind === 'answer') {
          preferred = server;
          return verdict;
        }
        failures.set(server, verdict.reason);
        if (verdict.retry) next.push(server);
      }
      open = next;
    }
    return unavailable(name, type, failures);
  }

  return {
    async ask(name, type) {
      const isFree = await slots.take(MAX_WAITS * options.timeoutMs);
      if (!isFree) return { kind: 'unavailable', reason: `too many DNS look-ups were waiting before ${name} ${type}` };
      try {
        return await ask(name, type, performance.now() + options.timeoutMs);
      } finally {
        slots.release();
      }
    },
  };
}

function judge(result: ExchangeResult): Verdict {
  switch (result.kind) {
    case 'timeout':
    case 'aborted':
      return { kind: 'failed', reason: 'did not answer in time', retry: true };
    case 'network_error':
    case 'malformed':
      return { kind: 'failed', reason: result.reason, retry: false };
    case 'answer':
      return judgeAnswer(result.answer);
  }
}

function judgeAnswer(answer: DnsAnswer): Verdict {
  if (answer.rcode !== RCODE.NOERROR && answer.rcode !== RCODE.NXDOMAIN) {
    return { kind: 'failed', reason: `answered ${rcodeName(answer.rcode)}`, retry: false };
  }
  // RFC 2308 section 2.2: without data, name servers but no SOA are a referral, and do not say that there is no data.
  const types = answer.authorities.map((record) => record.type);
  const isReferral = answer.answers.length === 0 && types.includes('NS') && !types.includes('SOA');
  if (isReferral && !answer.aa && answer.rcode === RCODE.NOERROR) {
    return {
      kind: 'failed',
      reason: 'only referred to other servers, so it is not a recursive resolver',
      retry: false,
    };
  }
  return { kind: 'answer', answer };
}

function unavailable(name: string, type: RecordType, failures: Map<DnsServer, string>): PoolReply {
  const reasons = [...failures].map(([server, reason]) => `${formatServer(server)} ${reason}`);
  return { kind: 'unavailable', reason: `no DNS server gave an answer for ${name} ${type}: ${reasons.join('; ')}` };
}

/**
 * A semaphore: every look-up holds one slot, and with it at most one socket. `take` answers false when none was free for
 * so long.
 */
export function createSemaphore(count: number): { take(maxWaitMs?: number): Promise<boolean>; release(): void } {
  const waiting = new Set<() => void>();
  let free = count;
  return {
    take(maxWaitMs) {
      if (free > 0) {
        free--;
        return Promise.resolve(true);
      }
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const begin = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const giveUp = () => {
        waiting.delete(begin);
        resolve(false);
      };
      const timer = maxWaitMs === undefined ? undefined : setTimeout(giveUp, maxWaitMs);
      waiting.add(begin);
      return promise;
    },
    release() {
      const [next] = waiting;
      if (!next) free++;
      else {
        waiting.delete(next);
        next();
      }
    },
  };
}
