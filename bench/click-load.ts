// A process that follows links at a fixed rate, whatever the answers do: an open loop, as the world is.
// A click waits for a connection when all are busy, and its time counts from when it was due.
import fs from 'node:fs';
import { HttpCaller } from './http-caller.ts';
import { monotonicMs } from './monotonic.ts';
import { answerParent } from './processes.ts';
import { type Spread, spreadOf } from './spread.ts';

export interface ClickJob {
  httpPort: number;
  connections: number;
  perSecond: number;
  durationMs: number;
  /** One path per line; they are taken in turn. */
  pathsFile: string;
}

export interface ClickReport {
  answered: number;
  /** Answers other than 302. */
  refused: number;
  elapsedMs: number;
  answerMs: Spread;
}

const TICK_MS = 2;
const AGENT =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

async function click({ httpPort, connections, perSecond, durationMs, pathsFile }: ClickJob): Promise<ClickReport> {
  const over = Promise.withResolvers<void>();
  const requests = fs
    .readFileSync(pathsFile, 'latin1')
    .split('\n')
    .map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: mail.postrider.test\r\nUser-Agent: ${AGENT}\r\n\r\n`));
  const callers = Array.from(
    { length: connections },
    () => new HttpCaller(httpPort, (why) => over.reject(new Error(why))),
  );
  const free = [...callers];
  const times: number[] = [];
  const startedAtMs = monotonicMs();
  const wanted = Math.round((perSecond * durationMs) / 1000);
  let started = 0;
  let refused = 0;
  const pump = () => {
    const due = Math.min(wanted, Math.floor(((monotonicMs() - startedAtMs) * perSecond) / 1000));
    while (started < due && free.length > 0) {
      const caller = free.pop()!;
      const dueAtMs = startedAtMs + (started * 1000) / perSecond;
      caller.call(requests[started++ % requests.length]!, ({ status }) => {
        times.push(monotonicMs() - dueAtMs);
        if (status !== 302) refused++;
        free.push(caller);
        if (times.length === wanted) over.resolve();
        // What is overdue does not wait for the next tick as well.
        else if (started < wanted) setImmediate(pump);
      });
    }
  };
  const ticking = setInterval(pump, TICK_MS);
  try {
    await over.promise;
  } finally {
    clearInterval(ticking);
    for (const caller of callers) caller.close();
  }
  return { answered: times.length, refused, elapsedMs: monotonicMs() - startedAtMs, answerMs: spreadOf(times) };
}

answerParent<ClickJob, ClickReport>(click);
