// An endpoint that takes every event at once, in a process of its own: bare sockets, because an HTTP
// server would use more of the two cores than what is measured. Notes when each event came, by the
// wall clock: events carry their time.
import net from 'node:net';
import { monotonicMs } from './monotonic.ts';
import { answerParent } from './processes.ts';

export interface HookReport {
  port: number;
  received: number;
  /** CLOCK_MONOTONIC of the first and of the latest since the last report. */
  firstAtMs: number;
  lastAtMs: number;
  /** From the time in the event to its arrival, of those since the last report. */
  delaysMs: number[];
}

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

let report: Omit<HookReport, 'port'> = fresh();

function fresh(): Omit<HookReport, 'port'> {
  return { received: 0, firstAtMs: 0, lastAtMs: 0, delaysMs: [] };
}

const server = net.createServer((socket) => {
  let heard = '';
  socket.setNoDelay(true);
  socket.setEncoding('utf8');
  socket.on('error', () => {});
  socket.on('data', (text: string) => {
    heard += text;
    for (let end = endOfRequest(heard); end > 0; end = endOfRequest(heard)) {
      note(heard.slice(0, end));
      heard = heard.slice(end);
      socket.write(ANSWER);
    }
  });
});

/** The bench's subjects are ASCII, so characters are bytes. 0: not all of it has come. */
function endOfRequest(text: string): number {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return 0;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, headEnd))?.[1];
  const end = headEnd + 4 + Number(length ?? 0);
  return text.length >= end ? end : 0;
}

function note(request: string): void {
  const now = Date.now();
  const timestamp = /"timestamp":"([^"]+)"/.exec(request)?.[1];
  report.received++;
  report.lastAtMs = monotonicMs();
  if (report.received === 1) report.firstAtMs = report.lastAtMs;
  if (timestamp !== undefined) report.delaysMs.push(now - Date.parse(timestamp));
}

const listening = new Promise<number>((resolve) => {
  server.listen(0, '127.0.0.1', () => resolve((server.address() as net.AddressInfo).port));
});

answerParent<{ reset: boolean }, HookReport>(async ({ reset }) => {
  const answer = { port: await listening, ...report };
  if (reset) report = fresh();
  return answer;
});
