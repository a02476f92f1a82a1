// Real Postfix, Exim and OpenSMTPD with limits of connections and rates, and refusals that pass: mail goes
// on over what works, pauses are about as long as the limits are counted, and nobody waits for hours.

import { once } from 'node:events';
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { IdSource } from '../../src/base/ids.ts';
import { QueueActions } from '../../src/delivery/actions/queue-actions.ts';
import { type Logger, silentLogger } from '../../src/observe/log.ts';
import type { MessageDetail } from '../../src/store/queue.ts';
import { isDeferred, isDelivered, setMx, setUpFor } from '../delivery/set-up.ts';
import type { DeliveryHarness, DeliveryHarnessOptions } from '../support/delivery-harness.ts';
import { noExim, startExim } from '../support/exim-server.ts';
import { findFreePort } from '../support/free-port.ts';
import { noOpenSmtpd, startOpenSmtpd } from '../support/opensmtpd-server.ts';
import { noPostfix, startPostfix } from '../support/postfix-server.ts';

const MINUTE = 60_000;
const GROUP = 'mx.rcpt.test';
const users = (count: number) => Array.from({ length: count }, (_, at) => `user${at}@rcpt.test`);
const NEVER_BY_ITSELF = 60 * MINUTE;

interface Site {
  harness: DeliveryHarness;
  /** How long each pause was when it began, in milliseconds. */
  pauses: number[];
  clock: { offset: number; now(): number };
}

async function startSite(
  t: Test,
  ip: string,
  port: number,
  change: Partial<DeliveryHarnessOptions> = {},
): Promise<Site> {
  const pauses: number[] = [];
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const warn: Logger['warn'] = ({ until }, words) => {
    if (words.includes('is paused until')) pauses.push(Date.parse(String(until)) - clock.now());
  };
  const log: Logger = { ...silentLogger, warn, with: () => log };
  const options = { clock, log, timeoutFactor: 1, retryStepsMs: [1000], ...change };
  const harness = await setUpFor(t, port, options);
  setMx(harness, 'rcpt.test', { [GROUP]: { ip } });
  return { harness, pauses, clock };
}

async function postfixAt(
  t: Test,
  ip: string,
  settings: Record<string, string>,
  change: Partial<DeliveryHarnessOptions> = {},
) {
  const port = await findFreePort([ip]);
  const postfix = await startPostfix({ port, listeners: { [ip]: settings } });
  t.teardown(() => postfix.close());
  return { postfix, ...(await startSite(t, ip, port, change)) };
}

const reasonsOf = ({ harness }: Site) =>
  harness.delivery.shaping.verdict({ tenantId: '', domain: '', group: { name: GROUP, open: 0 }, connections: null })
    .reasons;

const limitOf = ({ harness }: Site) => harness.delivery.shaping.memory.group(GROUP).concurrency.limit;
const attemptsOf = (messages: MessageDetail[]) => Math.max(...messages.map(({ attempts }) => attempts));

const EIGHT = { limits: { sessionsPerGroup: 8 }, retryStepsMs: [NEVER_BY_ITSELF] };

t.test('a real Postfix', { skip: noPostfix }, async (t) => {
  await t.test('smtpd_client_connection_count_limit: what is let in carries all of it, at once', async (t) => {
    const site = await postfixAt(t, '127.0.0.11', { smtpd_client_connection_count_limit: '2' }, EIGHT);
    const messages = await site.harness.untilAll(await site.harness.send(users(150)), isDelivered);
    t.equal(attemptsOf(messages), 1);
    t.same(site.pauses, []);
    t.ok(limitOf(site) <= 3, `${limitOf(site)} connections`);
    t.match(await site.postfix.log(), /Connection concurrency limit exceeded/);
  });

  await t.test('smtpd_client_message_rate_limit: pauses of a minute, and all of it goes', async (t) => {
    const settings = { smtpd_client_message_rate_limit: '10', anvil_rate_time_unit: '60s' };
    const site = await postfixAt(t, '127.0.0.12', settings, { limits: { sessionsPerGroup: 2 } });
    await site.harness.untilAll(await site.harness.send(users(35)), isDelivered);
    t.ok(site.pauses.length >= 2, `${site.pauses.length} pauses`);
    t.ok(
      site.pauses.every((ms) => ms <= 2 * MINUTE),
      `of ${site.pauses.map((ms) => Math.round(ms / 1000))} s`,
    );
    t.match(await site.postfix.log(), /Message delivery request rate limit exceeded/);
  });

  await t.test('421 4.3.2 as the greeting: seconds, no pause of our address', async (t) => {
    const policy = await refuseFirst(t, 2, '421 4.3.2 Service not available, come back later');
    const settings = {
      smtpd_delay_reject: 'no',
      smtpd_client_restrictions: `check_policy_service inet:127.0.0.1:${policy}`,
    };
    const site = await postfixAt(t, '127.0.0.13', settings, { coolDownStepsMs: [1000, 2000] });
    const [id] = await site.harness.send(['ann@rcpt.test']);
    const { attemptList } = await site.harness.until(id!, isDelivered);
    t.match(attemptList[0], {
      peer: { stage: 'greeting', smtpCode: 421, response: /Client host rejected: Service not/ },
    });
    t.same(site.pauses, []);
  });

  await t.test('450 cannot find your hostname: minutes that grow; queue resume ends them', async (t) => {
    const settings = { smtpd_client_restrictions: 'reject_unknown_client_hostname', unknown_client_reject_code: '450' };
    const site = await postfixAt(t, '127.0.0.14', settings);
    const { harness, clock, pauses } = site;
    const [id] = await harness.send(['ann@rcpt.test']);
    for (const [index, minutes] of [1, 2, 4, 8].entries()) {
      await harness.until(id!, (message) => isDeferred(message) && message.attempts > index);
      const ms = pauses.at(-1)!;
      t.ok(ms > (minutes - 0.5) * MINUTE && ms <= minutes * MINUTE, `${ms} ms of ${minutes} min`);
      t.match(reasonsOf(site), [{ code: 'source_address_suspended' }]);
      if (minutes === 8) break;
      clock.offset += ms + 1000;
      await harness.delivery.reconcile();
    }
    t.match((await harness.store.queue.getMessage(id!))!.attemptList[0], {
      peer: { smtpCode: 450, response: /your hostname/ },
    });
    const { store, delivery } = harness;
    const { endBegun, shaping } = delivery;
    const kit = { store, shaping, endBegun, clock, ids: new IdSource(), log: silentLogger };
    const actions = new QueueActions({
      ...kit,
      onLanes: (lanes) => delivery.notice(lanes),
      onScheduled: (at) => delivery.noticeScheduled(at),
    });
    const before = (await store.queue.getMessage(id!))!.attempts;
    t.match(await actions.act('resume', { kind: 'group', key: GROUP }, { by: 'jo', note: 'a test' }), { kind: 'done' });
    await harness.until(id!, ({ attempts }) => attempts > before);
  });

  await t.test('521 as the greeting: the next MX; from all of them, a failure that suppresses nobody', async (t) => {
    const refusing = {
      smtpd_delay_reject: 'no',
      smtpd_client_restrictions: 'check_client_access static:{521 5.3.2 No mail here}',
    };
    const [first, second] = ['127.0.0.15', '127.0.0.16'];
    const port = await findFreePort([first, second]);
    const postfix = await startPostfix({ port, listeners: { [first]: refusing, [second]: {} } });
    t.teardown(() => postfix.close());
    const { harness } = await startSite(t, first, port);
    setMx(harness, 'rcpt.test', {
      'mx1.rcpt.test': { ip: first, preference: 10 },
      'mx2.rcpt.test': { ip: second, preference: 20 },
    });
    const [id] = await harness.send(['ann@rcpt.test']);
    t.match(await harness.until(id!, isDelivered), { attemptList: [{ peer: { mx: 'mx2.rcpt.test' } }] });
    setMx(harness, 'none.test', { 'mx1.rcpt.test': { ip: first } });
    const [none] = await harness.send(['ann@none.test']);
    const failed = await harness.until(none!, ({ state }) => state === 'failed' || state === 'deferred');
    t.match(failed, {
      state: 'failed',
      lastReason: /accepts mail \(RFC 7504\): mx1\.rcpt\.test \(127\.0\.0\.15:\d+\)/,
    });
  });
});

/** Postfix' policy protocol: so many refusals, then everybody may. */
async function refuseFirst(t: Test, count: number, action: string): Promise<number> {
  let left = count;
  const server = createServer((socket) => {
    let heard = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      heard += chunk;
      for (let end = heard.indexOf('\n\n'); end >= 0; end = heard.indexOf('\n\n')) {
        heard = heard.slice(end + 2);
        socket.write(`action=${left-- > 0 ? action : 'DUNNO'}\n\n`);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as { port: number }).port;
}

t.test('a real Exim', { skip: noExim }, async (t) => {
  const eximAt = async (
    t: Test,
    ip: string,
    options: { settings?: string[]; acl?: string[] },
    change: Partial<DeliveryHarnessOptions>,
  ) => {
    const port = await findFreePort([ip]);
    const exim = await startExim({ address: ip, port, ...options });
    t.teardown(() => exim.close());
    return { exim, ...(await startSite(t, ip, port, change)) };
  };

  await t.test('smtp_accept_max_per_host: what is let in carries all of it, at once', async (t) => {
    const site = await eximAt(t, '127.0.0.17', { settings: ['smtp_accept_max_per_host = 2'] }, EIGHT);
    const messages = await site.harness.untilAll(await site.harness.send(users(100)), isDelivered);
    t.equal(attemptsOf(messages), 1);
    t.same(site.pauses, []);
    t.match(await site.exim.log(), /too many connections/i);
    t.equal((await site.exim.bodies()).length, 100, 'nothing twice');
  });

  await t.test('ratelimit in an ACL: pauses of about a minute, and all of it goes', async (t) => {
    const acl = [
      ...['check_rcpt:', '  defer message = Too much mail, try again later'],
      ...['        ratelimit = 10 / 1m / per_rcpt', '  accept'],
    ];
    const site = await eximAt(t, '127.0.0.18', { acl }, { limits: { sessionsPerGroup: 2 } });
    await site.harness.untilAll(await site.harness.send(users(25)), isDelivered);
    t.ok(site.pauses.length >= 1, `${site.pauses.length} pauses`);
    t.ok(
      site.pauses.every((ms) => ms <= 4 * MINUTE),
      `of ${site.pauses.map((ms) => Math.round(ms / 1000))} s`,
    );
  });
});

t.test(
  'a real OpenSMTPD: messages per session are used up, the rest goes over new sessions',
  { skip: noOpenSmtpd },
  async (t) => {
    const ip = '127.0.0.19';
    const port = await findFreePort([ip]);
    const server = await startOpenSmtpd({ address: ip, port, settings: ['smtp limit max-mails 5'] });
    t.teardown(() => server.close());
    const site = await startSite(t, ip, port, { limits: { sessionsPerGroup: 1 }, retryStepsMs: [NEVER_BY_ITSELF] });
    const messages = await site.harness.untilAll(await site.harness.send(users(23)), isDelivered);
    t.equal(attemptsOf(messages), 1);
    t.same(site.pauses, []);
  },
);
