// A sandbox that other machines reach, as one in a container must: its own loopback is of no use to anybody outside.
import { createTransport } from 'nodemailer';
import t from 'tap';
import { noOwnAddress, OWN_ADDRESS } from '../support/own-address.ts';
import { newDataDir, spawnSandboxWith } from '../support/sandbox-process.ts';
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

t.test('at the address of the environment', { skip: noOwnAddress }, async (t) => {
  const sandbox = spawnSandboxWith(t, newDataDir(t), { POSTRIDER_HTTP_HOST: OWN_ADDRESS! }, '--json');
  const told: Told = JSON.parse(await sandbox.ready());
  t.match(told, { url: new RegExp(`^http://${OWN_ADDRESS}:`), smtp: { host: OWN_ADDRESS } });

  const transport = createTransport({ ...told.smtp, ignoreTLS: true, auth: { user: 'apikey', pass: told.api_key } });
  const mail = { from: 'hello@hello.verified.test', subject: 'Hello', text: 'Hello.' };
  const sent = await transport.sendMail({ ...mail, to: 'later-bounce@example.com' });
  transport.close();
  t.match(sent.response, /^250 /, 'a key is taken from other machines without TLS');
  await until('the bounce has come back to the listener', async () => (await states(told)).includes('bounced'));
  t.equal(await sandbox.interrupt(), 0, sandbox.complained);
});

t.test('at all addresses, and what is printed is of this machine', { skip: noOwnAddress }, async (t) => {
  const sandbox = spawnSandboxWith(t, newDataDir(t), { POSTRIDER_HTTP_HOST: '0.0.0.0' }, '--json');
  const told: Told = JSON.parse(await sandbox.ready());
  t.match(told, { url: /^http:\/\/127\.0\.0\.1:/, smtp: { host: '127.0.0.1' } });
  const healthz = await fetch(told.url.replace('127.0.0.1', OWN_ADDRESS!).concat('/healthz'));
  t.equal(healthz.status, 200);
  t.equal(await sandbox.interrupt(), 0, sandbox.complained);
});
