// A process that brings delivery reports to the inbound listener, one for each of a list of return
// paths. As large senders do it: several connections, and MAIL, RCPT and DATA in one write.
import { connect, type Socket } from 'node:net';
import { composeDsn } from '../src/protocol/mail/reports/dsn.ts';
import { monotonicMs } from './monotonic.ts';
import { answerParent } from './processes.ts';

export interface ReportFloodJob {
  smtpPort: number;
  connections: number;
  reports: { returnPath: string; recipient: string }[];
}

export interface ReportFloodAnswer {
  accepted: number;
  /** The first thing that was said instead of 250. */
  refusal: string | null;
  fromMs: number;
  toMs: number;
  bytesEach: number;
}

interface ReadyReport {
  envelope: string;
  content: Buffer;
}

function compose({ returnPath, recipient }: ReportFloodJob['reports'][number]): ReadyReport {
  const content = composeDsn({
    reportingMta: 'relay.in1.test',
    from: 'Mail Delivery System <mailer-daemon@relay.in1.test>',
    to: returnPath,
    finalRecipient: recipient,
    action: 'failed',
    status: '5.1.1',
    diagnostic: `550 5.1.1 <${recipient}>: Recipient address rejected: User unknown in virtual mailbox table`,
    remoteMta: 'mx.in1.test',
    originalHeaders: Buffer.from(ORIGINAL),
    date: new Date(),
  });
  return {
    envelope: `MAIL FROM:<>\r\nRCPT TO:<${returnPath}>\r\nDATA\r\n`,
    content: Buffer.concat([content, Buffer.from('.\r\n')]),
  };
}

/** As large as the header of a message with two signatures that has been through a relay. */
const ORIGINAL = `Received: from a.test by b.test with ESMTPS id 1; Sun, 22 Nov 2026 10:00:00 +0000\r\n${Array.from(
  { length: 30 },
  (_, line) => `X-Header-${line}: ${'x'.repeat(60)}\r\n`,
).join('')}Subject: Your order\r\n`;

type Waiting = 'greeting' | 'ehlo' | 'data' | 'dot';
const AWAITED: Record<Waiting, string> = { greeting: '220 ', ehlo: '250 ', data: '354 ', dot: '250 ' };

class Carrier {
  readonly over = Promise.withResolvers<void>();
  readonly #socket: Socket;
  readonly #next: () => ReadyReport | undefined;
  readonly #tally: ReportFloodAnswer;
  #current: ReadyReport | undefined;
  #waiting: Waiting = 'greeting';
  #heard = '';

  constructor(smtpPort: number, next: () => ReadyReport | undefined, tally: ReportFloodAnswer) {
    this.#next = next;
    this.#tally = tally;
    this.#socket = connect({ host: '127.0.0.1', port: smtpPort, noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('error', (error) => this.over.reject(error));
    this.#socket.on('close', () => this.over.resolve());
    this.#socket.on('data', (text: string) => this.#hear(text));
  }

  #hear(text: string): void {
    this.#heard += text;
    if (!this.#heard.endsWith('\r\n')) return;
    const last = this.#heard.split('\r\n').at(-2)!;
    if (/^[45]/m.test(this.#heard)) {
      this.#tally.refusal ??= this.#heard.trim();
      this.#socket.end();
    } else if (last.startsWith(AWAITED[this.#waiting])) {
      this.#heard = '';
      this.#proceed();
    }
  }

  #proceed(): void {
    if (this.#waiting === 'greeting') this.#say('EHLO bench.test\r\n', 'ehlo');
    else if (this.#waiting === 'data') this.#say(this.#current!.content, 'dot');
    else this.#begin();
  }

  #begin(): void {
    if (this.#waiting === 'dot') {
      this.#tally.accepted++;
      this.#tally.toMs = monotonicMs();
    }
    this.#current = this.#next();
    if (this.#current) this.#say(this.#current.envelope, 'data');
    else this.#socket.end('QUIT\r\n');
  }

  #say(what: string | Buffer, waiting: Waiting): void {
    this.#waiting = waiting;
    this.#socket.write(what);
  }
}

answerParent<ReportFloodJob, ReportFloodAnswer>(async ({ smtpPort, connections, reports }) => {
  const ready = reports.map(compose);
  const fromMs = monotonicMs();
  const tally = { accepted: 0, refusal: null, fromMs, toMs: fromMs, bytesEach: ready[0]?.content.length ?? 0 };
  const carriers = Array.from({ length: connections }, () => new Carrier(smtpPort, () => ready.pop(), tally));
  await Promise.all(carriers.map(({ over }) => over.promise));
  return tally;
});
