// What real servers send back to a return path: bounces and notices of delay of Postfix, Exim and OpenSMTPD,
// Sieve's rejects and vacation replies of Dovecot. Asked is what a tenant gets: the event, and its reason.
import t from 'tap';
import { SmtpClient } from '../support/smtp-client.ts';
import { EHLO_NAME, noServers, openServerPark, POSTFIX } from './server-park.ts';

const SCRIPTS = {
  'away@dovecot.test': `require ["vacation"];
vacation :days 1 :subject "Nicht da" "Bin verreist. User unknown, 550 5.1.1, bin ich nicht.";`,
  'list@dovecot.test': 'require ["reject"];\nreject "This mailbox takes no newsletters.";',
  'shop@dovecot.test': `require ["reject"];
reject text:
We take no mail from shops.
Write to us by post.
.
;`,
};
/** Sentences that servers write around a reason. */
const BOILERPLATE =
  /no action is required|delivery attempts will continue|do not need to|below is|this is a copy|warning message only/i;

t.test('real servers report', { skip: noServers, timeout: 3_600_000 }, async (t) => {
  const park = await openServerPark(t, SCRIPTS);
  const bounceOf = async (to: string) => {
    const id = await park.deliver(to);
    const line = await park.cameBack({ message_id: id });
    const event = (await park.eventsOf(id)).at(-1)!;
    return { line, type: event.type, to: event.data.to, bounce: event.data.bounce };
  };

  for (const server of ['postfix', 'exim', 'opensmtpd']) {
    await t.test(`${server}: refusals of the server behind it`, async (t) => {
      for (const [name, expected] of Object.entries({
        gone: { type: 'hard', enhanced_code: '5.1.1', suppressed: true, diagnostic: /User unknown/ },
        full: { type: 'soft', enhanced_code: '5.2.2', suppressed: false, diagnostic: /Mailbox full/ },
        spam: { type: 'block', enhanced_code: '5.7.1', suppressed: false, diagnostic: /rejected as spam/ },
      })) {
        const to = `${name}@${server}.test`;
        const report = await bounceOf(to);
        t.match(report, { line: { kind: 'report', effect: 'bounced' }, type: 'email.bounced', to }, to);
        t.match(report.bounce, { source: 'dsn', ...expected }, to);
      }
    });

    await t.test(`${server}: a notice of delay says why, and is no bounce`, async (t) => {
      const id = await park.deliver(`slow@${server}.test`);
      const nudge = server === 'opensmtpd' ? () => park.openSmtpd.retryAll() : undefined;
      const line = await park.cameBack({ message_id: id, effect: 'deferred' }, nudge);
      t.equal(line.kind, 'report');
      const event = (await park.eventsOf(id)).at(-1)!;
      t.match(event, {
        type: 'email.deferred',
        data: { delivery: { response: /Greylisted, please try again later/ } },
      });
      t.notMatch(JSON.stringify(event.data), BOILERPLATE);
      t.equal(await park.stateOf(id), 'delivered');
    });
  }

  await t.test('postfix: what it gives up after a notice of delay is a soft bounce', async (t) => {
    const id = await park.deliver('slow@postfix.test');
    await park.cameBack({ message_id: id, effect: 'bounced' });
    const bounce = { type: 'soft', suppressed: false, diagnostic: /Greylisted/ };
    t.match((await park.eventsOf(id)).slice(-2), [
      { type: 'email.deferred' },
      { type: 'email.bounced', data: { bounce } },
    ]);
  });

  await t.test('dovecot: an unknown mailbox, refused over LMTP', async (t) => {
    const { type, bounce } = await bounceOf('nobody@dovecot.test');
    t.match({ type, bounce }, { type: 'email.bounced', bounce: { type: 'hard', diagnostic: /User doesn't exist/ } });
  });

  await t.test("dovecot: Sieve's rejects keep their reason, and suppress nobody", async (t) => {
    for (const [to, reason] of [
      ['list@dovecot.test', /This mailbox takes no newsletters/],
      ['shop@dovecot.test', /We take no mail from shops/],
    ] as const) {
      const { line, type, bounce } = await bounceOf(to);
      t.match(line, { kind: 'report', effect: 'bounced', reason }, to);
      t.match({ type, bounce }, { type: 'email.bounced', bounce: { suppressed: false, diagnostic: reason } }, to);
      t.not((bounce as { type: string }).type, 'hard', to);
    }
  });

  await t.test('dovecot: a vacation reply is an automatic reply, and no event', async (t) => {
    const id = await park.deliver('away@dovecot.test');
    t.match(await park.cameBack({ message_id: id }), { kind: 'auto_reply', effect: 'none' });
    t.equal(await park.stateOf(id), 'delivered');
    t.same(
      (await park.eventsOf(id)).map(({ type }) => type),
      ['email.delivered'],
    );
  });

  await t.test('postfix: mail to postmaster of the EHLO name is kept as it came', async (t) => {
    const client = await SmtpClient.hello(park.port, '127.0.0.1', POSTFIX);
    const text = 'Please look at this: \xe4\xf6\xfc\0.';
    const data = Buffer.from(`From: jo@people.test\r\nSubject: Your host\r\n\r\n${text}`, 'latin1');
    const reply = await client.send({ from: 'jo@people.test', to: `postmaster@${EHLO_NAME}`, data });
    client.close();
    t.match(reply, /^250/);
    const line = await park.cameBack({ kind: 'human' });
    t.match(line, { effect: 'kept' });
    const raw = (await park.rawMail(line.inbound_id)).toString('latin1');
    t.match(raw, /^Received: from client\.test .*by mx\.postfix\.test/s);
    t.ok(raw.endsWith(`\r\n\r\n${text}\r\n`), 'octet by octet');
  });

  await t.test('nothing of all this was taken for human mail', async (t) => {
    t.equal(park.daemon.find({ fact: 'inbound', kind: 'human' }).length, 1, 'but for the one of a person');
    t.same(park.daemon.find({ fact: 'inbound', kind: 'unreadable' }), []);
  });
});
