// Whatever comes to one of two daemons counts at both: webhooks, returned mail, portal sessions, sign-ins,
// keys that are revoked.
import t from 'tap';
import { decodeBase32 } from '../../../src/base/text/base32.ts';
import { composeDsn } from '../../../src/protocol/mail/reports/dsn.ts';
import { hotp, stepAt } from '../../../src/tenants/accounts/totp.ts';
import type { ReceivedMail } from '../../support/mail-sink.ts';
import { startNodes, type TestNode } from '../../support/nodes.ts';
import { PortalVisitor } from '../../support/portal.ts';
import { postgresMissing } from '../../support/postgres-server.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { until } from '../../support/until.ts';
import { startEndpoint } from '../../support/webhook-endpoint.ts';
import { messageIdOf, registerSender, send, stateOf } from '../../support/world.ts';

const SETTINGS = {
  webhooks: { allow_private: true },
  service: { base_url: 'http://mail.postrider.test' },
  portal: { require_second_step: 'nobody' },
};

async function smtpPortOf({ daemon }: TestNode): Promise<number> {
  return Number((await daemon.logged({ msg: 'ready' })).smtp_port);
}

/** The browser of `same`, if that is given. */
function visitorAt({ daemon }: TestNode, same?: PortalVisitor): PortalVisitor {
  const visitor = new PortalVisitor(`http://127.0.0.1:${daemon.httpPort}`);
  for (const [name, value] of same?.cookies ?? []) visitor.cookies.set(name, value);
  return visitor;
}

/** Returns the reply to the bounce. */
async function bounceAt(node: TestNode, mail: ReceivedMail): Promise<string> {
  const client = await SmtpClient.hello(await smtpPortOf(node));
  const data = composeDsn({
    reportingMta: 'relay.receiver.test',
    from: 'mailer-daemon@relay.receiver.test',
    to: mail.from,
    finalRecipient: mail.to,
    action: 'failed',
    status: '5.1.1',
    diagnostic: '550 5.1.1 No such user here',
    remoteMta: 'mx.inner.test',
    originalHeaders: mail.raw.subarray(0, mail.raw.indexOf('\r\n\r\n') + 2),
    date: new Date(),
  });
  try {
    return await client.send({ from: '', to: mail.from, data });
  } finally {
    client.close();
  }
}

t.test('two daemons, and whom one asks makes no difference', { skip: postgresMissing() }, async (t) => {
  const { dns, sink, nodes } = await startNodes(t, ['a', 'b'], SETTINGS);
  const [a, b] = [nodes[0]!, nodes[1]!];
  const sender = await registerSender({ dns, postrider: a.postrider }, a.daemon);
  const deliver = async (node: TestNode, to: string) => {
    const [id] = await send(node.daemon, sender, to);
    const mail = await until('it arrives', () => sink.mails.find(({ raw }) => messageIdOf(raw) === id));
    return { id: id!, mail };
  };

  await t.test('a webhook that was made at one hears of the mail of both, and of each event once', async (t) => {
    const endpoint = await startEndpoint(t);
    t.teardown(() => endpoint.close());
    const rights = ['--name', 'hooks', '--scopes', 'webhooks:write'];
    const { key } = await a.postrider.json('key', 'create', '--tenant', sender.tenantId, ...rights);
    const made = await a.daemon.call(String(key), 'POST /webhooks', { body: { url: endpoint.url } });
    t.equal(made.status, 201, JSON.stringify(made.body));
    // Who caches the tenant's webhooks learns of it within a second.
    await until('b knows it', async () => {
      await deliver(b, 'ann@receiver.test');
      return endpoint.received.length > 0;
    });
    const before = endpoint.received.length;
    const { id: ofA } = await deliver(a, 'ann@receiver.test');
    const { id: ofB } = await deliver(b, 'ann@receiver.test');
    const told = (id: string) => endpoint.received.filter(({ text }) => text.includes(id));
    await until('it hears of both', () => told(ofA).length > 0 && told(ofB).length > 0);
    t.ok(endpoint.received.length > before);
    const ids = endpoint.received.map(({ headers }) => headers['webhook-id']);
    t.equal(new Set(ids).size, ids.length, 'each event once');
  });

  await t.test('a call of one is ended when its webhook is deleted at the other', async (t) => {
    const endpoint = await startEndpoint(t);
    const ended = Promise.withResolvers<void>();
    endpoint.answer = (response) => void response.socket!.once('close', () => ended.resolve());
    const rights = ['--name', 'hooks', '--scopes', 'webhooks:write'];
    const { key } = await a.postrider.json('key', 'create', '--tenant', sender.tenantId, ...rights);
    const made = await a.daemon.call(String(key), 'POST /webhooks', { body: { url: endpoint.url } });
    t.equal(made.status, 201, JSON.stringify(made.body));
    const { id } = made.body as { id: string };
    await deliver(a, 'ann@receiver.test');
    await endpoint.until(1);
    t.match(await b.daemon.call(String(key), `DELETE /webhooks/${id}`), { status: 204 });
    await ended.promise;
    const { id: later } = await deliver(a, 'ann@receiver.test');
    await a.daemon.logged({ fact: 'delivered', message_id: later });
    t.same(a.daemon.find({ fact: 'webhook_retry', webhook_id: id }), [], 'it did not time out');
  });

  await t.test('mail that comes back to one is about mail of the other', async (t) => {
    const { id, mail } = await deliver(a, 'gone@receiver.test');
    t.match(await bounceAt(b, mail), /^250/);
    await until('a knows it', async () => (await stateOf(a.daemon, sender, id)) === 'bounced');
    const again = await a.daemon.call(sender.key, 'POST /emails', {
      body: { from: `app@${sender.domain}`, to: 'gone@receiver.test', subject: 'Again', text: 'Again.' },
    });
    t.match(again, { status: 422 }, 'and the next mail to it is refused');
  });

  await t.test('who has signed in at one is signed in at both', async (t) => {
    const whose = ['--tenant', sender.tenantId, '--role', 'owner', '--email', 'owner@acme.test'];
    const { password } = await a.postrider.json('user', 'create', ...whose);
    const visitor = visitorAt(a);
    await visitor.signIn({ email: 'owner@acme.test', password: String(password) });
    const page = await visitorAt(b, visitor).get('/portal/messages');
    t.match(page.title, /^Messages/);
  });

  await t.test('an operator sees both daemons, and drains one', async (t) => {
    const { password } = await a.postrider.json('user', 'create', '--operator', '--email', 'op@postrider.test');
    const visitor = new PortalVisitor(`http://127.0.0.1:${b.daemon.httpPort}`);
    await visitor.signIn({ email: 'op@postrider.test', password: String(password) });
    const overview = await visitor.get('/portal/operator');
    t.match(overview.text, /Daemons.*a \S+ alive 8.*b \S+ alive 8/);
    const page = await visitor.get('/portal/operator/nodes');
    const form = page.forms.find(({ action, fields }) => action.endsWith('/drain') && fields.get('node') === 'a');
    t.match((await visitor.submit(page, form!)).text, 'a hands its slots over');
    await until('a has none', async () => /a \S+ drained 0/.test((await visitor.get('/portal/operator/nodes')).text));
    const { id, mail } = await deliver(b, 'gone-later@receiver.test');
    t.match(await bounceAt(a, mail), /^250/);
    await until('the other one works on what comes back to it', async () => {
      return (await stateOf(b.daemon, sender, id)) === 'bounced';
    });
    const drained = await visitor.get('/portal/operator/nodes');
    t.match((await visitor.submit(drained, '/portal/operator/nodes/resume')).text, 'a takes its share again');
    await until('a has some', async () => /a \S+ alive 8/.test((await visitor.get('/portal/operator/nodes')).text));
  });

  await t.test('a code at one completes the sign-in that began with the password at the other', async (t) => {
    const email = 'second@acme.test';
    const whose = ['--tenant', sender.tenantId, '--role', 'member', '--email', email];
    const login = { email, password: String((await a.postrider.json('user', 'create', ...whose)).password) };
    const at = '/portal/account/second-step';
    const visitor = visitorAt(a);
    await visitor.signIn(login);
    const shown = await visitor.submit(await visitor.get(at), `${at}/begin`, { password: login.password });
    const secret = decodeBase32(/([A-Z2-7]{4} ?){8}/.exec(shown.text)![0].replaceAll(' ', ''))!;
    const on = await visitor.submit(shown, `${at}/confirm`, { code: hotp(secret, stepAt(Date.now())) });
    const recovery = /[a-z2-7]{4}(-[a-z2-7]{4}){3}/.exec(on.source)![0];
    const guest = visitorAt(a);
    const asked = await guest.signIn(login);
    t.match(asked.title, /^Second step/);
    const other = visitorAt(b, guest);
    const entered = await other.submit(asked, '/portal/sign-in/code', { code: recovery });
    t.match(entered.text, /recovery code; 9 are left/);
    t.match(await other.get('/portal/account'), { title: /^Your account/ });
  });

  await t.test('wrong passwords count at both', async (t) => {
    const login = { email: 'guessed@acme.test', password: 'wrong' };
    const answers: string[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      answers.push((await visitorAt(attempt % 2 ? b : a).signIn(login)).text);
    }
    t.same(
      answers.map((text) => /Too many tries/.test(text)),
      [false, false, false, false, false, true],
    );
    t.match((await visitorAt(a).signIn(login)).text, /Too many tries/);
  });

  await t.test('a key that is revoked at one sends no more at the other within a second', async (t) => {
    const rights = ['--name', 'old', '--scopes', 'emails:send'];
    const { id, key } = await a.postrider.json('key', 'create', '--tenant', sender.tenantId, ...rights);
    const body = { from: `app@${sender.domain}`, to: 'ann@receiver.test', subject: 'Hello', text: 'Hello.' };
    const call = () => b.daemon.call(String(key), 'POST /emails', { body });
    await until('b knows it', async () => (await call()).status === 202);
    await a.postrider.json('key', 'revoke', String(id));
    await until('b knows that it is over', async () => (await call()).status === 401, 3000);
    t.equal((await call()).status, 401);
  });
});
