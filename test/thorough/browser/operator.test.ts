// What the operator's pages need a browser for: the doctor's page that looks again by itself, and a mail in its
// frame, where nothing of it runs.
import t from 'tap';
import { noBrowser, openBrowser } from '../../support/browser.ts';
import { startPortal } from '../../support/portal.ts';
import { SmtpClient } from '../../support/smtp-client.ts';

t.test('the doctor, and a mail', { skip: noBrowser }, async (t) => {
  const settings = { doctor: { mail_domains: [], known_domains: [], time_sources: [], blocklists: [] } };
  const { daemon, addUser } = await startPortal(t, { settings });
  const { email, password } = await addUser('operator');
  const browser = await openBrowser(t, `http://127.0.0.1:${daemon.httpPort}`);
  const { page } = await browser.window();
  await page.goto('/portal/sign-in');
  await page.fill('[name=email]', email);
  await page.fill('[name=password]', password);
  await page.click('main button');
  await page.waitForURL('**/portal/operator');

  await page.goto('/portal/operator/doctor');
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByText(/\d+ failed, \d+ with warnings/).waitFor();
  t.equal(await page.locator('[data-poll]').count(), 0, 'and then it does not look any more');
  t.ok(await page.getByRole('button', { name: 'Run now' }).isVisible(), 'it can be run again');

  const client = await SmtpClient.hello(Number((await daemon.logged({ msg: 'ready' })).smtp_port));
  const data = [
    ...['From: eve@people.test', 'Subject: Look', 'Content-Type: text/html', ''],
    ...['<h1>Hello</h1><script>top.document.title = "taken"; document.body.textContent = "taken"</script>'],
    ...[
      '<form action="/portal/sign-out" method="post"><button>go</button></form><a href="/portal" target="_top">out</a>',
    ],
    ...['<img src="/portal/account"><meta http-equiv="refresh" content="0;url=/portal">', ''],
  ].join('\r\n');
  await client.send({ from: 'eve@people.test', to: 'abuse@bounces.mail.postrider.test', data });
  await daemon.logged({ kind: 'human' });
  await page.goto('/portal/operator/inbound');
  const answered: string[] = [];
  page.context().on('response', (response) => answered.push(new URL(response.url()).pathname));
  // What the frame's policy refuses is said in the console: that is no error of ours.
  page.removeAllListeners('console');
  await page.getByRole('link', { name: 'Look' }).click();
  const frame = page.frameLocator('iframe.preview');
  await frame.getByRole('heading', { name: 'Hello' }).waitFor();
  await frame.getByRole('link', { name: 'out' }).click();
  await frame.getByRole('button', { name: 'go' }).click();
  t.match(page.url(), /inbound\/[0-9a-f-]{36}$/, 'no link leads out of the frame');
  t.not(await page.title(), 'taken');
  t.same(
    answered.filter((path) => path === '/portal/account' || path === '/portal' || path === '/portal/sign-out'),
    [],
    'nothing that it names was fetched',
  );
  await page.getByRole('link', { name: 'Headers' }).click();
  await page.getByText('eve@people.test').first().waitFor();
});
