// The operator's area through a real daemon: tenants are decided about and told, the queue is explained and
// acted on, lists are mended, mail is read; every act is in the audit log, nobody else gets in, and nothing
// that a stranger wrote becomes markup.
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { withDatabase } from '../support/database.ts';
import { dmarcMail, dmarcXml } from '../support/dmarc-mail.ts';
import type { Page } from '../support/page-reader.ts';
import { type PortalWorld, startPortal } from '../support/portal.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { until } from '../support/until.ts';
import { publish, RECEIVER, send } from '../support/world.ts';
import { HOSTILE } from './hostile-world.ts';

const SERVICE_KEY = 'postrider._domainkey.bounces.mail.postrider.test';
const STRANGER = '01a1fa75-69d8-7000-b301-908cb7826839';
const GROUP = `mx.${RECEIVER}`;

const world: PortalWorld = await startPortal(t, {
  sink: {
    onRcpt(address) {
      if (address.startsWith('gone@')) return { code: 550, text: `5.1.1 ${HOSTILE}` };
      return address.startsWith('later') ? { code: 451, text: `4.3.0 ${HOSTILE}` } : null;
    },
  },
  settings: {
    delivery: { retry_steps: ['1h'] },
    doctor: { mail_domains: [], known_domains: [], time_sources: [], blocklists: [] },
  },
});
const { daemon, sender, postrider, dns } = world;
const announced = await daemon.logged({ record: SERVICE_KEY });
publish(dns, [{ name: SERVICE_KEY, type: 'TXT', value: String(announced.value) }]);
const operator = await world.visitor(await world.addUser('operator', 'jo@service.test'));
const owner = await world.visitor();

/** The first acts of the log, as the page shows them. */
async function acts(): Promise<string> {
  return (await operator.get('/portal/operator/audit')).text;
}

function probes(page: Page): string[] {
  return page.texts((name, attributes) => name === 'xss-probe' || 'onxss' in attributes);
}

async function newTenant(name: string): Promise<{ id: string; email: string }> {
  const { id } = await postrider.json('tenant', 'create', '--name', name);
  const email = `${String(id).slice(-12)}@${RECEIVER}`;
  await postrider.json('user', 'create', '--tenant', String(id), '--email', email);
  return { id: String(id), email };
}

t.test('a tenant is approved, suspended with a reason, reactivated; its owner is told each time', async (t) => {
  const { id, email } = await newTenant(HOSTILE);
  const path = `/portal/operator/tenants/${id}`;
  const overview = await operator.get('/portal/operator');
  t.match(overview.text, /Accepted/);
  t.ok(
    overview.links.some(({ href }) => href === path),
    'it needs a person',
  );
  t.match(overview.text, 'not reviewed yet');
  const list = await operator.get('/portal/operator/tenants?status=in_review');
  t.ok(list.links.some(({ href }) => href === path));
  t.same(probes(list), []);
  t.notMatch((await operator.get('/portal/operator/tenants?status=suspended')).source, id);

  const page = await operator.get(path);
  t.match(page.text, 'Waiting for your review');
  t.match(page.text, email);
  t.same(probes(page), []);
  const status = async () => (await postrider.json('tenant', 'list')).tenants;
  const approved = await operator.submit(page, page.form('Approve'));
  t.match(approved.text, 'is approved. Its owners are notified by mail.');
  t.match(await status(), [{}, { id, status: 'active' }]);
  const told = await world.sink.received(1);
  t.match(told[0]!.raw.toString(), 'has been approved');
  t.match(told[0]!.raw.toString(), `To: ${email}`);
  const twice = await operator.submit(page, page.form('Approve'));
  t.equal(twice.status, 422);
  t.match(twice.text, 'The tenant is already active.');

  const unreasoned = await operator.submit(approved, approved.form('Suspend'), { reason: '  ' });
  t.equal(unreasoned.status, 422);
  t.match(unreasoned.text, 'Enter a reason');
  const suspended = await operator.submit(approved, approved.form('Suspend'), { reason: 'spam <b>traps</b>' });
  t.match(suspended.text, 'Suspended: spam <b>traps</b>.');
  t.match(await status(), [{}, { id, status: 'suspended', status_reason: 'spam <b>traps</b>' }]);
  t.match((await world.sink.received(2))[1]!.raw.toString(), 'spam <b>traps</b>');
  const again = await operator.submit(suspended, suspended.form('Reactivate'));
  t.notMatch(again.text, 'spam <b>traps</b>');
  t.match(await status(), [{}, { id, status: 'active', status_reason: null }]);

  const pinned = await operator.submit(again, `${path}/tier`, { tier: '10k' });
  t.match(pinned.text, 'The tier is pinned to 10k.');
  t.match(await status(), [{}, { id, tier: '10k', tier_pinned: true }]);
  t.match((await operator.submit(pinned, `${path}/tier`, { tier: 'auto' })).text, 'rises automatically again');
  t.equal((await operator.submit(pinned, `${path}/tier`, { tier: 'most' })).status, 422);
  const log = await acts();
  for (const act of ['approved', 'suspended', 'reactivated', 'tier']) t.match(log, `tenant ${act}`);
  t.match(log, 'reason: spam <b>traps</b>');
  t.match(log, 'jo@service.test');
  const own = (await operator.get('/portal/operator/tenants')).links.find(({ text }) =>
    text.startsWith('Postrider (mail'),
  )!;
  const itself = await operator.get(own.href);
  t.match(itself.text, "The service's own mail is sent from this tenant");
  const form = { ...again.form('Suspend'), action: `${own.href}/status` };
  t.equal((await operator.submit(again, form, { reason: 'r' })).status, 422, 'nor is it suspended by a slip');
  await postrider.json('tenant', 'set', own.href.split('/').at(-1)!, '--status', 'in_review');
  const stopped = await operator.get(own.href);
  t.match((await operator.submit(stopped, stopped.form('Approve'))).text, 'is approved', 'it can be let go on');
  t.equal((await operator.get(`/portal/operator/tenants/${STRANGER}`)).status, 404);
  t.equal((await operator.get('/portal/operator/tenants/x')).status, 404);
});

t.test('the queue says why, and is acted on with a reason', async (t) => {
  const [id = ''] = await send(daemon, sender, `later@${RECEIVER}`, { subject: HOSTILE });
  await daemon.logged({ message_id: id, fact: 'deferred' });
  const queue = await operator.get('/portal/operator/queue');
  t.match(queue.text, GROUP);
  t.same(probes(queue), []);
  const message = await operator.get(`/portal/operator/queue/${id}`);
  t.match(message.text, 'It is waiting because');
  t.match(message.text, 'its next attempt is due at');
  t.match(message.text, `451 4.3.0 ${HOSTILE}`, "the receiver's words are text");
  t.match(message.text, 'Meaning: ');
  t.same(probes(message), []);
  const group = await operator.get(`/portal/operator/queue?group=${GROUP}`);
  t.match(group.text, /Lanes.*receiver\.test.*Acme/);
  t.match(group.text, /Connections \d of 10 open/);
  t.match(group.text, /Nothing holds back .* Lanes due now \d/);
  t.notMatch(group.text, 'Earliest attempt', 'its message says when: not now');
  t.same(probes(group), []);

  const found = async (find: string) =>
    (await operator.get(`/portal/operator/queue?find=${encodeURIComponent(find)}`)).path;
  t.equal(await found(id), `/portal/operator/queue/${id}`);
  t.equal(await found(sender.tenantId), `/portal/operator/queue?tenant=${sender.tenantId}`);
  t.equal(await found(id.toUpperCase()), `/portal/operator/queue/${id}`);
  t.equal(await found(sender.tenantId.toUpperCase()), `/portal/operator/queue?tenant=${sender.tenantId}`);
  t.equal(await found(GROUP), `/portal/operator/queue?group=${GROUP}`);
  t.equal(await found('Example.com'), '/portal/operator/queue?domain=example.com');
  t.match(await operator.get(`/portal/operator/queue?find=${encodeURIComponent(HOSTILE)}`), { status: 404 });

  const act = (page: Page, button: string, reason: string) => operator.submit(page, page.form(button), { reason });
  t.match(await act(group, 'Pause', ''), { status: 422, text: /Enter a reason/ });
  const paused = await act(group, 'Pause', `they asked ${HOSTILE}`);
  t.match(paused.text, 'Paused by jo@service.test');
  t.match(paused.text, 'Earliest attempt not known');
  t.same(probes(paused), []);
  const { groups } = await postrider.json('queue', 'list');
  t.match(groups, [{ group: GROUP, reasons: [{ code: 'group_paused', reason: /jo@service\.test.*they asked/ }] }]);
  t.match((await operator.get('/portal/operator')).text, `MX group ${GROUP} is paused`);
  t.match(await act(group, 'Pause', 'again'), { status: 422, text: /is paused already, by jo@service.test/ });
  t.match((await act(paused, 'Resume', '')).text, 'Resumed.');
  for (const target of [`tenant=${sender.tenantId.toUpperCase()}`, `domain=${RECEIVER}`]) {
    const page = await operator.get(`/portal/operator/queue?${target}`);
    t.match((await act(page, 'Pause', 'wait')).text, 'Paused by jo@service.test');
    const held = await operator.get(message.path);
    t.match(held.text, /was paused by jo@service\.test at \S+: wait/, `${target} holds the message`);
    t.match((await act(page, 'Resume', 'go')).text, 'Pauses lifted: the pause by jo@service.test: wait.');
  }
  const typed = await operator.get(`/portal/operator/queue/${id.toUpperCase()}`);
  const parked = await act(typed, 'Pause', 'let me see');
  t.equal(parked.path, message.path, 'an ID in upper case is the same message');
  t.match(parked.text, 'this message was paused by jo@service.test');
  t.match((await operator.get('/portal/operator/queue')).text, 'Parked messages');
  await act(parked, 'Resume', '');
  const retried = await act(message, 'Retry now', 'now');
  t.match(retried.text, 'Due now. 1 message.');
  await daemon.until(() => daemon.find({ message_id: id, fact: 'deferred' }).length === 2, 'try once more');
  t.match(await act(message, 'Cancel', ''), { status: 422 });
  const cancelled = await act(message, 'Cancel', 'sent by mistake');
  t.match(cancelled.text, /Finished as canceled.*sent by mistake/);
  t.match(await act(message, 'Cancel', 'once more'), { status: 422, text: /is not waiting: it is canceled/ });

  const form = group.form('Pause');
  const wrong: Record<string, string>[] = [
    { action: 'delete' },
    { kind: 'all' },
    { key: '' },
    { kind: 'message', key: 'x' },
  ];
  for (const change of wrong) {
    const answer = await operator.submit(group, form, { reason: 'r', ...change });
    t.match(answer, { status: 422, text: /Unknown action or target/ }, JSON.stringify(change));
  }
  const log = await acts();
  for (const name of ['pause', 'resume', 'retry', 'cancel']) t.match(log, `queue ${name}`);
  t.match(log, 'reason: sent by mistake');
  t.same(probes(await operator.get('/portal/operator/audit')), []);
  t.equal((await operator.get(`/portal/operator/queue/${STRANGER}`)).status, 404);
});

t.test("the platform's list is searched, mended entry by entry, and undone by receiver", async (t) => {
  const [one = ''] = await send(daemon, sender, `gone@${RECEIVER}`);
  await daemon.logged({ message_id: one, fact: 'bounced' });
  const path = '/portal/operator/suppressions';
  const list = await operator.get(path);
  t.match(list.text, `gone@${RECEIVER}`);
  t.match((await operator.get(`${path}?address=gone`)).text, `gone@${RECEIVER}`);
  t.match((await operator.get(`${path}?address=zzz`)).text, 'No address matches');
  await postrider.json('suppression', 'add', '--platform', '--address', 'Ann@bücher.test');
  const found = await operator.get(`${path}?address=${encodeURIComponent('Ann@bücher.test')}`);
  t.match(found.text, 'ann@xn--bcher-kva.test');
  await postrider.json('suppression', 'remove', '--platform', '--address', 'ann@bücher.test');
  const removed = await operator.submit(list, `${path}/remove`);
  t.match(removed.text, `gone@${RECEIVER} is no longer on the platform’s list.`);
  t.match((await operator.submit(list, `${path}/remove`)).text, 'The address isn’t on the list.');

  await postrider.json('suppression', 'remove', '--tenant', sender.tenantId, '--address', `gone@${RECEIVER}`);
  const [two = ''] = await send(daemon, sender, `gone@${RECEIVER}`);
  await daemon.logged({ message_id: two, fact: 'bounced' });
  const undo = (group: string, since: string) => operator.submit(list, `${path}/undo`, { group, since });
  t.match(await undo('', '2026-01-01T00:00'), { status: 422, text: /Enter an MX group/ });
  t.match(await undo(GROUP, 'yesterday'), { status: 422, text: /Enter a date and a time/ });
  t.match((await undo(GROUP, '2026-01-01T00:00')).text, 'had caused: 1 of the platform, 1 of tenants.');
  t.match((await operator.get(path)).text, 'The list is empty');
  t.match(
    (await operator.submit(list, { ...list.form(`${path}/undo`), action: `${path}/trust` })).text,
    'No decision is pending for this name.',
  );
  const log = await acts();
  for (const act of ['removed', 'undone']) t.match(log, `platform suppression ${act}`);
});

t.test('held mail without a route is a task, can be let go, and what DNS decided can be undone', async (t) => {
  const path = '/portal/operator/suppressions';
  const hold = `INSERT INTO doubted_receivers (mx_group, since, reason) VALUES ('no-route', ?, 'it has spiked')`;
  withDatabase(postrider.databaseFile, (db) => db.prepare(hold).run(Date.now()));
  t.match((await operator.get('/portal/operator')).text, /Mail without a route is held.*it has spiked/);
  const page = await operator.get(path);
  t.match(page.text, /Mail without a route in DNS: it has spiked.*no such message bounces or fails/);
  const undone = await operator.submit(page, page.form('Undo'));
  t.match(undone.text, 'Entries removed that DNS had caused: 0 of the platform, 0 of tenants.');
  const trusted = await operator.submit(page, page.form('Release'));
  t.match(trusted.text, 'Mail without a route is no longer held.');
  t.notMatch((await operator.get('/portal/operator')).text, 'Mail without a route');
  t.match(await acts(), 'receiver trusted');
});

t.test('the doctor is started by the page, and looked for until it is over', async (t) => {
  const path = '/portal/operator/doctor';
  const before = await operator.get(path);
  t.match(before.text, 'haven’t run since the daemon started');
  const running = await operator.submit(before, before.form('Run now'));
  t.match(running.text, 'The checks have been running since');
  t.ok(running.texts((_name, attributes) => attributes['data-poll'] === path).length > 0, 'the page looks again');
  await daemon.logged({ msg: 'doctor run from the portal' });
  const after = await operator.get(path);
  t.match(after.text, /Some checks failed\. \d+ failed, \d+ with warnings, \d+ OK/);
  t.match(after.text, /fail MX bounces\..*Publish: bounces\./, 'with what mends it');
  t.match(after.text, /daemon postrider is running/, 'the daemon has answered while it was asked');
  t.same(
    after.texts((_name, attributes) => 'data-poll' in attributes),
    [],
  );
  t.match((await operator.get('/portal/operator')).text, 'Doctor MX', 'and the overview says so');
  t.match(await acts(), 'doctor run');
});

t.test('a mail that was refused is listed with its reason, and says why it has no content', async (t) => {
  const { smtp_port: port } = await daemon.logged({ msg: 'ready' });
  const client = await SmtpClient.hello(Number(port));
  const to = 'postmaster@bounces.mail.postrider.test';
  const data = Buffer.from(`Subject: ${HOSTILE}\r\n\r\none\ntwo`);
  t.match(await client.send({ from: 'scanner@people.test', to, data }), /^554 5\.6\.11/);
  client.close();
  const list = await operator.get('/portal/operator/inbound?kind=refused');
  t.match(list.text, /scanner@people\.test .*refused with 554 5\.6\.11 Line 3 of the mail has a bare CR or LF/);
  const mail = await operator.get(list.links.find(({ href }) => /inbound\/[0-9a-f-]{36}$/.test(href))!.href);
  t.match(mail.text, /Refused mail.*Its content wasn’t kept/);
  t.same([...probes(list), ...probes(mail)], []);
});

t.test('a mail that no program could read is tried again by a button', async (t) => {
  await bringMail('postmaster@bounces.mail.postrider.test', ['This is no header']);
  const { inbound_id: id } = await daemon.logged({ kind: 'unreadable' });
  const path = `/portal/operator/inbound/${id}`;
  const mail = await operator.get(path);
  const again = await operator.submit(mail, mail.form('Try again'));
  t.match(again.text, 'The mail is in the queue again.');
  t.match(await acts(), 'inbound retried');
  await until('it was worked on again', () => daemon.find({ fact: 'inbound', inbound_id: id }).length === 2);
});

t.test('mail by people is read like in a mail client, and does nothing', async (t) => {
  await bringMail('postmaster@bounces.mail.postrider.test', [
    ...[`From: "Eve" <eve@people.test>`, `Subject: ${HOSTILE}`, 'Content-Type: multipart/alternative; boundary=b', ''],
    ...['--b', 'Content-Type: text/plain', '', `Text ${HOSTILE}`, '--b', 'Content-Type: text/html; charset=x-none', ''],
    ...[`<img src="http://evil.test/pixel"><b>HTML ${HOSTILE}</b><script>alert(1)</script>`, '--b--', ''],
  ]);
  await daemon.logged({ kind: 'human' });
  const list = await operator.get('/portal/operator/inbound');
  t.same(probes(list), []);
  const path = list.links.find(({ href }) => /inbound\/[0-9a-f-]{36}$/.test(href))!.href;
  t.ok(
    (await operator.get('/portal/operator')).links.some(({ href }) => href === path),
    'it waits for a person',
  );
  const mail = await operator.get(path);
  t.match(mail.text, HOSTILE);
  t.match(mail.text, /From "?Eve"? <eve@people\.test>/);
  t.same(probes(mail), []);
  t.same(
    mail.texts((name, { sandbox, src }) => name === 'iframe' && sandbox === '' && src === `${path}/html`).length,
    1,
    'the HTML is in a frame that can do nothing',
  );
  const frame = await operator.get(`${path}/html`);
  const policy = frame.headers.get('content-security-policy');
  t.match(policy, /^sandbox; default-src 'none'; img-src data:/);
  t.notMatch(policy, /allow-/);
  t.match(frame.source, 'HTML x"');
  for (const part of ['text', 'headers', 'source']) {
    const shown = await operator.get(`${path}?part=${part}`);
    t.same(probes(shown), [], part);
    t.match(shown.text, HOSTILE, part);
  }
  const raw = await operator.raw('GET', `${path}/raw`);
  t.match(raw.headers.get('content-disposition'), /^attachment/);
  t.match(await raw.text(), /^Received: |From: "Eve"/m);
  for (const query of ['?kind=x&effect=y', '?before=x', `?before=${STRANGER}`, '?kind=all&effect=kept']) {
    t.equal((await operator.get(`/portal/operator/inbound${query}`)).status, 200, query);
  }
  for (const wrong of ['x', STRANGER]) t.equal((await operator.get(`/portal/operator/inbound/${wrong}`)).status, 404);
});

t.test('DMARC reports: operators see all domains, a tenant its own', async (t) => {
  dns.set('big.test', 'TXT', ['v=spf1 ip4:127.0.0.1 -all']);
  const [now, orgName] = [{ beginsAt: Date.now(), endsAt: Date.now() }, `<![CDATA[${HOSTILE}]]>`];
  const xml = dmarcXml({
    ...{ ...now, orgName },
    records: [{ count: 7 }, { count: 3, dkim: 'fail', sourceIp: '198.51.100.9' }],
  });
  const to = 'dmarc@bounces.mail.postrider.test';
  await bringMail(to, dmarcMail(gzipSync(xml)).split('\r\n'), 'noreply@big.test');
  const forged = dmarcXml({ ...now, orgName, id: '4712', records: [{ count: 5000, sourceIp: '203.0.113.7' }] });
  await bringMail(to, dmarcMail(gzipSync(forged)).split('\r\n'), 'noreply@other.test');
  await daemon.until(() => daemon.find({ kind: 'dmarc' }).length === 2, 'work on both reports');
  const all = await operator.get('/portal/operator/dmarc');
  t.match(all.text, /acme\.test 10 70\.0 %.* 5,000 /, 'what anybody can have written is apart');
  for (const [visitor, base] of [
    [operator, '/portal/operator/dmarc'],
    [owner, '/portal/dmarc'],
  ] as const) {
    const page = await visitor.get(`${base}/acme.test?days=7`);
    t.match(page.text, /198\.51\.100\.9.*fails.*the sender is forged/);
    t.match(page.text, /192\.0\.2\.1.*passes/);
    t.match(page.text, /Unverified reports .* 5,000 messages reported/);
    t.notMatch(page.text, '203.0.113.7');
    t.match(page.text, 'x" onxss=', 'who reported');
    t.same(probes(page), [], base);
  }
  t.match((await owner.get('/portal/dmarc')).text, 'acme.test');
  t.equal((await owner.get('/portal/dmarc/other.test')).status, 404, 'not by guessing names');
  const shown = await postrider.json('dmarc', 'show', 'acme.test', '--days', '2');
  t.match(shown, {
    unverified: { messages: 5000, reporters: [{ sender: null }] },
    reporters: [{ sender: 'big.test' }],
  });
  t.match(shown, { messages: 10, passed: 7, failed: 3, sources: [{ source_ip: '198.51.100.9' }, {}] });
  t.match(await postrider.json('dmarc', 'list'), { domains: [{ domain: 'acme.test', messages: 10 }], next: null });
  t.match((await postrider.runHere('dmarc', 'show', 'acme.test')).stdout, /198\.51\.100\.9 +3 +0 +3/);
});

t.test('nobody else gets in, by no path', async (t) => {
  const { id } = await newTenant('Other');
  const paths = [
    ...['', '/tenants', `/tenants/${id}`, '/queue', `/queue/${STRANGER}`, '/suppressions', '/doctor', '/inbound'],
    ...[
      `/inbound/${STRANGER}`,
      `/inbound/${STRANGER}/html`,
      `/inbound/${STRANGER}/raw`,
      '/dmarc',
      '/dmarc/acme.test',
      '/audit',
    ],
  ];
  const actions = [
    ...[`/tenants/${id}/status`, `/tenants/${id}/tier`, '/queue/act', '/suppressions/remove', '/suppressions/undo'],
    ...['/suppressions/trust', '/doctor'],
  ];
  const token = (await owner.get('/portal/account')).form('/portal/sign-out').fields.get('form_token')!;
  const body = new URLSearchParams({
    form_token: token,
    status: 'active',
    action: 'pause',
    kind: 'tenant',
    key: id,
    reason: 'r',
  });
  const guest = world.guest();
  for (const path of paths) {
    t.equal((await owner.get(`/portal/operator${path}`)).status, 404, path);
    t.match((await guest.raw('GET', `/portal/operator${path}`)).headers.get('location'), /^\/portal\/sign-in/);
  }
  for (const path of actions) {
    t.equal((await owner.raw('POST', `/portal/operator${path}`, { body })).status, 404, `POST ${path}`);
    t.not((await guest.raw('POST', `/portal/operator${path}`, { body })).status, 200, `POST ${path} by a guest`);
  }
  const unguarded = await operator.raw('POST', `/portal/operator/tenants/${id}/status`, {
    body: new URLSearchParams({ status: 'active' }),
  });
  t.equal(unguarded.status, 403, 'an operator is not led by a foreign page either');
  const tenants = (await postrider.json('tenant', 'list')).tenants as { id: string; status: string }[];
  t.equal(tenants.find((one) => one.id === id)?.status, 'in_review', 'nothing has changed');
  t.equal((await operator.get('/portal/messages')).status, 404, "nor does an operator see a tenant's pages");
});

async function bringMail(to: string, lines: string[], from = 'eve@people.test'): Promise<void> {
  const { smtp_port: port } = await daemon.logged({ msg: 'ready' });
  const client = await SmtpClient.hello(Number(port));
  const reply = await client.send({ from, to, data: lines.join('\r\n') });
  if (!reply.startsWith('250')) throw new Error(`not taken: ${reply}`);
}
