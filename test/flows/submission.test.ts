// The SMTP door of the real daemon: off unless configured, and the same keys, rates and limits as the API's.
import t from 'tap';
import { FIRST_PAIR } from '../http/test-only-certificates.ts';
import { plain } from '../submission/door/door-kit.ts';
import { findFreePort } from '../support/free-port.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { testFolder } from '../support/test-folder.ts';
import { RECEIVER, registerSender, send, startWorld } from '../support/world.ts';

t.test('off unless configured', async (t) => {
  const { postrider } = await startWorld(t);
  const daemon = await postrider.serve();
  const [ready] = daemon.find({ msg: 'ready' });
  t.notOk('submission_port' in ready!);
  t.notOk('submission_tls_port' in ready!);
});

t.test('a key sends over both doors with one rate', async (t) => {
  const folder = testFolder(t, { 'a.crt': FIRST_PAIR.cert, 'a.key': FIRST_PAIR.key });
  const port = await findFreePort();
  const settings = {
    submission: { host: '127.0.0.1', port },
    smtp: { tls_cert: `${folder}/a.crt`, tls_key: `${folder}/a.key` },
  };
  const { dns, postrider } = await startWorld(t, {
    settings,
    launch: { env: { POSTRIDER_LIMITS_REQUESTS_PER_MINUTE: '4,4' } },
  });
  const daemon = await postrider.serve();
  t.equal((await daemon.logged({ msg: 'ready' })).submission_port, port);
  const sender = await registerSender({ dns, postrider }, daemon);
  const client = await SmtpClient.hello(port);
  t.match(await client.ask(plain('pr_wrong')), /^535 5\.7\.8/);
  t.match(await client.ask(plain(sender.key)), /^235 2\.7\.0/);
  t.match(await client.ask(`MAIL FROM:<app@${sender.domain}>`), /^250 2\.1\.0/);
  t.match(await client.ask(`RCPT TO:<jo@${RECEIVER}>`), /^250 2\.1\.5/);

  await postrider.json('tenant', 'set', sender.tenantId, '--tier', '1k');
  for (let count = 0; count < 4; count++) await send(daemon, sender, `jo@${RECEIVER}`);
  await client.ask('RSET');
  t.match(await client.ask(`MAIL FROM:<app@${sender.domain}>`), /^451 4\.7\.1 .*try again in \d+ s/);

  await postrider.json('tenant', 'set', sender.tenantId, '--status', 'suspended');
  t.match(await client.ask(`MAIL FROM:<app@${sender.domain}>`), /^454 4\.7\.0 The operator has suspended/);
  const socket = await client.startTls({ rejectUnauthorized: false });
  t.equal(socket.getPeerCertificate().subject.CN, FIRST_PAIR.name, 'the certificate of [smtp]');
  t.same(await daemon.stop(), { code: 0, signal: null });
  t.match(await client.reply(), /^(421 4\.3\.2.*)?$/);
  t.notMatch(postrider.everythingLogged, sender.key.slice(20), 'no secret is logged');
});
