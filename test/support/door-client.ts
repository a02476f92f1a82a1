// An application that hands in mail at the SMTP door, octet by octet.
import { findFreePort } from './free-port.ts';
import { SmtpClient } from './smtp-client.ts';

export interface HandedMail {
  to: readonly string[];
  /** All lines end with CR LF. */
  raw: Buffer;
  /** Told of a recipient that is refused for good; the others get the mail. Without it, nobody does. */
  onRefused?: (recipient: string, reply: string) => void;
  /** Waited for when the first half is on the wire. */
  halfway?: () => Promise<unknown>;
}

export interface DoorAddress {
  host: string;
  port: number;
}

const HOST = '127.0.0.7';

/** As settings. At an address where no other test listens: a daemon that is started again must find its port free. */
export async function findDoorAddress(): Promise<{ submission: { host: string; port: number } }> {
  return { submission: { host: HOST, port: await findFreePort([HOST]) } };
}

export class DoorClient {
  readonly #client: SmtpClient;

  private constructor(client: SmtpClient) {
    this.#client = client;
  }

  static async signIn({ host, port }: DoorAddress, key: string): Promise<DoorClient> {
    const client = await SmtpClient.hello(port, undefined, host);
    const reply = await client.ask(`AUTH PLAIN ${Buffer.from(`\0any\0${key}`).toString('base64')}`);
    if (reply.startsWith('235')) return new DoorClient(client);
    client.close();
    throw new Error(`not signed in: ${reply}`);
  }

  /** The reply to the final dot, or the refusal for which it did not come to that; empty when the connection is over. */
  async hand({ to, raw, onRefused, halfway }: HandedMail): Promise<string> {
    const client = this.#client;
    const parameters = /[^\0-\x7f]/.test(to.join()) ? ' SMTPUTF8' : '';
    const welcome = await client.ask(`MAIL FROM:<app@acme.test>${parameters}`);
    if (!welcome.startsWith('250')) return welcome;
    let refusal = '';
    let taken = 0;
    for (const recipient of to) {
      const reply = await client.ask(`RCPT TO:<${recipient}>`);
      if (reply.startsWith('250')) taken++;
      else refusal = reply;
      if (reply.startsWith('5') && onRefused) onRefused(recipient, reply);
      else if (!reply.startsWith('250')) return reply;
    }
    if (taken === 0) return refusal;
    const go = await client.ask('DATA');
    if (!go.startsWith('354')) return go;
    const content = Buffer.from(`${raw.toString('latin1').replace(/^\./gm, '..')}.\r\n`, 'latin1');
    const half = content.length >> 1;
    client.write(content.subarray(0, half));
    await halfway?.();
    client.write(content.subarray(half));
    return client.replyToMail();
  }

  close(): void {
    this.#client.close();
  }
}

/** Out of the reply to the final dot; null: it was not taken. */
export function submissionIdIn(reply: string): string | null {
  return /^250 2\.0\.0 Ok: queued as ([0-9a-f-]{36})$/.exec(reply)?.[1] ?? null;
}
