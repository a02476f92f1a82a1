// A sandbox that other machines reach, as one in a container must: its own loopback is of no use to anybody outside.
import { createTransport } from 'nodemailer';
import t from 'tap';
import { noOwnAddress, OWN_ADDRESS } from '../support/own-address.ts';
import { newDataDir, spawnSandbox, spawnSandboxWith } from '../support/sandbox-process.ts';
import { until } from '../support/until.ts';

interface Told {
  url: string;
  api_key: string;
  smtp: { host: string; port: number };
}

async function states({ url, api_key: key }: Told): Promise<string[]> {
  const answer = await fetch(`${url}/emails`, { headers: { authorization: `Bearer ${key}` } });
  const { emails } = (await answer.json()) as { emails: { state: string }[] };
  return emails.map(({ state }) => state);
}

t.test('with --open', { skip: noOwnAddress }, async (t) => {
  const dataDir = newDataDir(t);
  const sandbox = spawnSandbox(t, dataDir, '--open', '--json');
  const told: Told = JSON.parse(await sandbox.ready());
  t.match(told, { url: /^http:\/\/127\.0\.0\.1:/, smtp: { host: '127.0.0.1' } }, 'what is printed is of this machine');
  const there = { ...told, url: told.url.replace('127.0.0.1', OWN_ADDRESS!) };

  const auth = { user: 'apikey', pass: told.api_key };
  const transport = createTransport({ host: OWN_ADDRESS!, port: told.smtp.port, ignoreTLS: true, auth });
  const mail = { from: 'hello@hello.verified.test', subject: 'Hello', text: 'Hello.' };
  const sent = await transport.sendMail({ ...mail, to: 'later-bounce@example.com' });
  transport.close();
  t.match(sent.response, /^250 /, 'a key is taken from other machines without TLS');
  await until('the bounce has come back to the listener', async () => (await states(there)).includes('bounced'));
  t.equal(await sandbox.interrupt(), 0, sandbox.complained);
  const again = spawnSandbox(t, dataDir, '--open');
  t.match(await again.ready(), 'other machines reach it');
  t.equal(await again.interrupt(), 0, again.complained);
});

t.test(
  'without it nobody else is let in, whatever the environment of a server says',
  { skip: noOwnAddress },
  async (t) => {
    const sandbox = spawnSandboxWith(t, newDataDir(t), { POSTRIDER_HTTP_HOST: '0.0.0.0' }, '--json');
    const told: Told = JSON.parse(await sandbox.ready());
    await t.rejects(fetch(told.url.replace('127.0.0.1', OWN_ADDRESS!)), { cause: { code: 'ECONNREFUSED' } });
    t.equal(await sandbox.interrupt(), 0, sandbox.complained);
  },
);
