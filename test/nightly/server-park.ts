// Postrider in a world of real servers, all on loopback addresses and one port: each of them takes mail for
// a domain of its own, passes it on to a server that refuses it, and brings its reports back to our listener.
import type { Test } from 'tap';
import { type Daemon, install, type Json, type LogLine } from '../support/daemon-process.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { type Dovecot, noDovecot, startDovecot } from '../support/dovecot-server.ts';
import { type Exim, noExim, startExim } from '../support/exim-server.ts';
import { findFreePort } from '../support/free-port.ts';
import { noOpenSmtpd, type OpenSmtpd, startOpenSmtpd } from '../support/opensmtpd-server.ts';
import { noPostfix, type Postfix, startPostfix } from '../support/postfix-server.ts';
import { registerSender, type Sender, send } from '../support/world.ts';

const BOUNCES = 'bounces.mail.postrider.test';
export const EHLO_NAME = 'mail.postrider.test';
export const POSTFIX = '127.0.0.11';
const EXIM = '127.0.0.12';
const OPENSMTPD = '127.0.0.13';
/** Refuses what the others pass on to it. */
const INNER = '127.0.0.14';
const DOVECOT = '127.0.0.15';
const DOMAINS = { 'postfix.test': POSTFIX, 'dovecot.test': POSTFIX, 'exim.test': EXIM, 'opensmtpd.test': OPENSMTPD };

/** By the local part, what the inner server says at RCPT. */
export const REFUSALS = {
  gone: '550 5.1.1 User unknown',
  full: '552 5.2.2 Mailbox full',
  spam: '550 5.7.1 Message rejected as spam by Content Filtering',
  slow: '450 4.2.0 Greylisted, please try again later',
} as const;

/** Looks that much longer than one wait: servers have pauses of their own. */
const LOOKS = 5;

export interface ServerPark {
  daemon: Daemon;
  /** Of all of the servers. */
  port: number;
  openSmtpd: OpenSmtpd;
  /** Sends to this address, and gives the message's id when the server has taken it. */
  deliver(to: string): Promise<string>;
  /** What the listener made of a mail with these facts; `nudge` is called before each further look. */
  cameBack(facts: Partial<LogLine>, nudge?: () => Promise<void>): Promise<LogLine>;
  /** As `postrider inbound show --raw` gives it. */
  rawMail(inboundId: unknown): Promise<Buffer>;
  eventsOf(messageId: string): Promise<{ type: string; data: Json }[]>;
  stateOf(messageId: string): Promise<unknown>;
}

export const noServers = noPostfix || noDovecot || noExim || noOpenSmtpd;

export async function openServerPark(t: Test, scripts: Record<string, string>): Promise<ServerPark> {
  const dns = await startDnsServer();
  const port = await findFreePort([POSTFIX, EXIM, OPENSMTPD, INNER, DOVECOT]);
  t.teardown(() => dns.close());
  for (const [domain, address] of Object.entries(DOMAINS)) {
    dns.set(domain, 'MX', [{ exchange: `mx.${domain}`, preference: 10 }]);
    dns.set(`mx.${domain}`, 'A', [address]);
  }
  const postrider = install(t, { dns, smtpPort: port });
  const daemon = await postrider.serve();
  const inboundPort = Number((await daemon.logged({ msg: 'ready' })).smtp_port);
  const servers = await startServers({ port, inboundPort, scripts });
  t.teardown(async () => {
    // Their words, should they be needed: the daemon's own are in its folder.
    if (!t.passing()) for (const server of servers.all) t.comment(await server.log());
    await Promise.all(servers.all.map((server) => server.close()));
  });
  const sender = await registerSender({ dns, postrider }, daemon);
  return {
    ...{ daemon, port, openSmtpd: servers.openSmtpd, ...waysOf(daemon, sender) },
    async rawMail(id) {
      const { raw_base64: raw } = await postrider.json('inbound', 'show', String(id), '--raw');
      return Buffer.from(String(raw), 'base64');
    },
  };
}

interface Ports {
  port: number;
  inboundPort: number;
  scripts: Record<string, string>;
}

async function startServers({ port, inboundPort, scripts }: Ports) {
  const back = { address: '127.0.0.1', port: inboundPort };
  const inner = { address: INNER, port };
  const refusals = Object.entries(REFUSALS).map(([name, reply]) => `{ ${name}@ = ${reply} }`);
  const checks = `check_recipient_access inline:{ ${refusals.join(', ')} }, permit`;
  const postfix: Postfix = await startPostfix({
    port,
    listeners: {
      [POSTFIX]: { myhostname: 'mx.postfix.test' },
      [INNER]: { myhostname: 'inner.rcpt.test', smtpd_recipient_restrictions: checks },
    },
    routes: {
      [BOUNCES]: `smtp:[${back.address}]:${back.port}`,
      [EHLO_NAME]: `smtp:[${back.address}]:${back.port}`,
      'postfix.test': `smtp:[${inner.address}]:${inner.port}`,
      'dovecot.test': `lmtp:inet:[${DOVECOT}]:${port}`,
    },
    settings: {
      ...{ delay_warning_time: '1s', queue_run_delay: '1s', minimal_backoff_time: '1s', maximal_backoff_time: '2s' },
      // Long enough for a notice of delay.
      maximal_queue_lifetime: '20s',
      // What is not in its mailboxes belongs to the next hop.
      smtpd_reject_unlisted_recipient: 'no',
    },
  });
  const exim: Exim = await startExim({
    ...{ address: EXIM, port, settings: ['delay_warning = 1s'] },
    relay: {
      routes: [
        { domains: BOUNCES, ...back },
        { domains: '*', ...inner },
      ],
      everySeconds: 1,
    },
  });
  const openSmtpd = await startOpenSmtpd({
    ...{ address: OPENSMTPD, port, settings: ['bounce warn-interval 1s'] },
    routes: [
      { domain: BOUNCES, ...back },
      { domain: 'opensmtpd.test', ...inner },
    ],
  });
  const dovecot: Dovecot = await startDovecot({ address: DOVECOT, port, submission: back, scripts });
  return {
    openSmtpd,
    all: [postfix, exim, openSmtpd, dovecot] as { log(): Promise<string> | string; close(): Promise<void> }[],
  };
}

type Ways = Pick<ServerPark, 'deliver' | 'cameBack' | 'eventsOf' | 'stateOf'>;

function waysOf(daemon: Daemon, sender: Sender): Ways {
  const detail = async (id: string) => (await daemon.call(sender.key, `GET /emails/${id}`)).body;
  /** Several waits long, for the servers' pauses and a machine that is busy. */
  const patiently = async (facts: Partial<LogLine>, nudge?: () => Promise<void>) => {
    for (let look = 1; look < LOOKS; look++) {
      try {
        return await daemon.logged(facts);
      } catch (error) {
        if (!daemon.running) throw error;
        await nudge?.();
      }
    }
    return daemon.logged(facts);
  };
  return {
    async deliver(to) {
      const [id] = await send(daemon, sender, to);
      await patiently({ fact: 'delivered', message_id: id! });
      return id!;
    },
    cameBack: (facts, nudge) => patiently({ fact: 'inbound', ...facts }, nudge),
    eventsOf: async (id) => (await detail(id)).events as { type: string; data: Json }[],
    stateOf: async (id) => (await detail(id)).state,
  };
}
