// A whole journey in a real browser, through a real daemon and against real servers: from signing up to mail that
// arrives, bounces, is told of and is looked into; and the operator beside it. Everything is found by what people see.
import type { Locator, Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { nextLetter } from '../../portal/next-letter.ts';
import { noBrowser, type OpenBrowser, openBrowser } from '../../support/browser.ts';
import type { Daemon } from '../../support/daemon-process.ts';
import { startEndpoint, type TestEndpoint } from '../../support/webhook-endpoint.ts';
import { startWorld, type World } from '../../support/world.ts';
import { copied, decide, goTo, PATIENCE_MS, rowWith, signIn, told } from './as-people-do.ts';

const EVE = { email: 'eve@receiver.test', password: 'horse battery lake' };
const OPERATOR = 'ops@receiver.test';
const NO_MAILBOX = { code: 550, text: '5.1.1 There is no such mailbox here' };
const LATER = { code: 450, text: '4.2.1 The mailbox is busy, come back later' };
const STEPS = {
  before: ['Confirm your email address', 'Approval'],
  left: ['Create an API key', 'Verify a sending domain', 'Send your first message', 'Receive the result'],
};

interface Journey extends World {
  daemon: Daemon;
  browser: OpenBrowser;
  endpoint: TestEndpoint;
  /** The windows of the tenant's owner and of the operator. */
  page: Page;
  desk: Page;
  key: string;
  secret: string;
}

t.test('the whole journey', { skip: noBrowser }, async (t) => {
  const journey = await begin(t);
  await signUp(t, journey);
  await approve(t, journey);
  const overview = await firstLook(t, journey);
  await makeKey(t, journey);
  await verifyDomain(t, journey);
  await registerWebhook(t, journey);
  await sendTwo(t, journey);
  await readSuppressions(t, journey);
  await readAttempts(t, journey);
  await makeTemplate(t, journey);
  await overview.getByText('Getting started').waitFor({ state: 'detached' });
  t.match(await overview.textContent('main'), /You can send\./, 'all is done, on a page that nobody has reloaded');
  await runQueue(t, journey);
});

async function begin(t: Test): Promise<Journey> {
  const onRcpt = (address: string) => {
    if (address.startsWith('gone@')) return NO_MAILBOX;
    return address.startsWith('later@') ? LATER : null;
  };
  const world = await startWorld(t, {
    sink: { onRcpt },
    settings: {
      portal: { sign_up: true, require_second_step: 'nobody' },
      service: { base_url: 'http://mail.postrider.test', operator_address: OPERATOR },
      webhooks: { allow_private: true },
      // What is put off stays in the queue.
      delivery: { retry_steps: ['1h'] },
    },
  });
  const endpoint = await startEndpoint(t);
  const daemon = await world.postrider.serve();
  const origin = `http://127.0.0.1:${daemon.httpPort}`;
  const browser = await openBrowser(t, origin);
  const [owner, operator] = [await browser.window(), await browser.window()];
  await owner.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
  for (const { context } of [owner, operator]) context.setDefaultTimeout(PATIENCE_MS);
  return { ...world, daemon, browser, endpoint, page: owner.page, desk: operator.page, key: '', secret: '' };
}

async function signUp(t: Test, { page, sink }: Journey) {
  await page.goto('/portal/sign-in');
  await page.getByRole('link', { name: 'Sign up' }).click();
  await page.getByLabel('Your organization').fill('Rockets');
  await page.getByLabel('Mail address').fill(EVE.email);
  await page.getByLabel('Password').fill(EVE.password);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByText(`A mail is on its way to ${EVE.email}`).waitFor();
  await page.goto((await nextLetter(sink, EVE.email, 0)).link);
  await page.getByLabel('Password').fill(EVE.password);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await told(page, 'Your address is confirmed');
  t.match(await page.textContent('main'), /Your account is in review/);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

async function approve(t: Test, { desk, postrider, sink }: Journey) {
  const { password } = await postrider.json('user', 'create', '--operator', '--email', OPERATOR);
  await signIn(desk, { email: OPERATOR, password: String(password) });
  t.match(await desk.textContent('main'), /Review.*Rockets.*not reviewed yet/s);
  await desk.getByRole('main').getByRole('link', { name: 'Rockets' }).click();
  await rowWith(desk, EVE.email).waitFor();
  await decide(desk.getByRole('main'), { open: 'Approve', button: 'Approve' });
  await told(desk, 'Rockets is approved. Its owners are notified by mail.');
  t.match((await nextLetter(sink, EVE.email, 1)).text, /has been approved/);
}

/** A window that stays open. */
async function firstLook(t: Test, { page, browser }: Journey): Promise<Page> {
  await signIn(page, EVE);
  t.same(await stepsOf(page), { done: STEPS.before, open: STEPS.left });
  // In a window of its own, of the same session: what lies behind another one is drawn seldom.
  const { page: overview } = await browser.window({ storageState: await page.context().storageState() });
  await overview.goto('/portal');
  return overview;
}

async function stepsOf(page: Page): Promise<{ done: string[]; open: string[] }> {
  const texts = await page.getByRole('region', { name: 'Getting started' }).getByRole('listitem').allTextContents();
  const steps = texts.map((text) => /^(?<title>.*?) (?<mark>done|to do)/.exec(text)!.groups!);
  const marked = (wanted: string) => steps.filter(({ mark }) => mark === wanted).map(({ title }) => title!);
  return { done: marked('done'), open: marked('to do') };
}

async function makeKey(t: Test, journey: Journey) {
  const { page, daemon } = journey;
  await goTo(page, 'API keys');
  await page.getByText('No keys yet').waitFor();
  await page.getByRole('link', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('shop, production');
  t.ok(await page.getByLabel('emails:send').isChecked());
  await page.getByRole('button', { name: 'Create key' }).click();
  journey.key = await copied(page, 'the API key');
  t.equal((await daemon.call(journey.key, 'GET /domains')).status, 200);
  await page.getByRole('link', { name: 'Done' }).click();
  await rowWith(page, 'shop, production').waitFor();
  t.notMatch(await page.content(), journey.key, 'it was shown once');
}

async function verifyDomain(t: Test, { page, dns }: Journey) {
  dns.addZone('rockets.test');
  await goTo(page, 'Domains');
  await page.getByLabel('Domain', { exact: true }).fill('Rockets.test.');
  await page.getByRole('button', { name: 'Add domain' }).click();
  await told(page, 'rockets.test was added. Now publish its DNS records.');
  for (const kind of ['DKIM', 'SPF', 'DMARC']) {
    const name = await copied(page, `the full name of the ${kind} record`);
    dns.set(name, 'TXT', [await copied(page, `the value of the ${kind} record`)]);
  }
  await page.getByRole('button', { name: 'Check now' }).click();
  await told(page, 'rockets.test is verified');
  t.match(await page.getByText('Records', { exact: true }).locator('..').textContent(), /DKIM OK.*SPF OK.*DMARC OK/);
}

async function registerWebhook(t: Test, journey: Journey) {
  const { page, endpoint } = journey;
  await goTo(page, 'Webhooks');
  await page.getByRole('link', { name: 'Add webhook' }).click();
  await page.getByLabel('URL').fill(endpoint.url);
  await page.getByLabel('Description').fill('Order service');
  await page.getByRole('button', { name: 'Add webhook' }).click();
  journey.secret = await copied(page, 'the secret');
  await page.getByRole('link', { name: 'Done' }).click();
  await page.getByText('No event has been sent to it yet').waitFor();
  t.notMatch(await page.content(), journey.secret, 'it was shown once');
}

async function sendTwo(t: Test, journey: Journey) {
  const { page, endpoint } = journey;
  endpoint.answer = (response) => {
    // It asks for an hour, or the daemon's own retry could come before the button is pressed.
    response.writeHead(500, { 'retry-after': '3600' }).end('out of order');
    endpoint.answer = (later) => later.writeHead(200).end('thank you');
  };
  await send(journey, { to: 'ann@receiver.test', subject: 'Your ticket' });
  await goTo(page, 'Messages');
  await page.getByRole('link', { name: 'ann@receiver.test' }).click();
  const course = page.getByRole('listitem');
  await course.filter({ hasText: 'Attempt 1: accepted by the receiving server' }).waitFor();
  t.match(await page.textContent('main'), /250 OK: message queued.*Server: mx\.receiver\.test \(127\.0\.0\.1\)/s);

  await send(journey, { to: 'gone@receiver.test', subject: 'Your ticket' });
  await goTo(page, 'Messages');
  await page.getByRole('link', { name: 'gone@receiver.test' }).click();
  await course.filter({ hasText: 'Attempt 1: failed permanently' }).waitFor();
  t.match(await page.textContent('main'), `${NO_MAILBOX.code} ${NO_MAILBOX.text}`);

  await goTo(page, 'Messages');
  t.equal(await rowWith(page, 'Your ticket').count(), 2);
  await page.getByText('Filters').click();
  await page.getByLabel('State').selectOption('bounced');
  await page.getByRole('button', { name: 'Search' }).click();
  await rowWith(page, 'ann@receiver.test').waitFor({ state: 'detached' });
  t.match(await rowWith(page, 'Your ticket').allTextContents(), [/bounced.*gone@receiver\.test.*no such mailbox/]);
}

async function send({ daemon, key }: Journey, mail: Record<string, unknown>): Promise<string> {
  const body = {
    from: 'Rockets <hello@rockets.test>',
    ...('template_id' in mail ? {} : { text: 'Here it is.' }),
    ...mail,
  };
  const answer = await daemon.call(key, 'POST /emails', { body });
  if (answer.status !== 202) throw new Error(`not accepted: ${answer.status} ${JSON.stringify(answer.body)}`);
  return (answer.body.message_ids as string[])[0]!;
}

async function readSuppressions(t: Test, { page }: Journey) {
  await goTo(page, 'Suppressions');
  const row = rowWith(page, 'gone@receiver.test');
  t.match(await row.textContent(), /hard bounce/);
  await row.getByRole('link', { name: 'View message' }).click();
  await page.getByRole('heading', { level: 1, name: 'Your ticket' }).waitFor();
  t.match(await page.textContent('main'), /gone@receiver\.test/, 'it leads to the message');
  await page.goBack();
  await decide(row, { open: 'Remove', button: 'Remove from list' });
  await told(page, 'gone@receiver.test is no longer on the list.');
  await page.getByText('The list is empty').waitFor();
}

/** By a whole cell: the digits of a status are also found in ids and times. */
function answered(page: Page, status: string): Locator {
  return page.getByRole('row').filter({ has: page.getByRole('cell', { name: status, exact: true }) });
}

async function readAttempts(t: Test, { page, endpoint, secret }: Journey) {
  await goTo(page, 'Webhooks');
  await page.getByRole('link', { name: endpoint.url }).click();
  const failed = answered(page, '500').getByRole('link');
  await failed.click();
  await page.getByText('out of order').waitFor();
  await page.getByRole('button', { name: 'Retry now' }).click();
  await told(page, 'The event is being sent.');
  await answered(page, '200').first().waitFor();
  t.match(await answered(page, '500').textContent(), /accepted at a later attempt/);
  await answered(page, '200').getByRole('link').click();
  await page.getByText('thank you').waitFor();
  await page.getByRole('button', { name: 'Send again' }).click();
  await answered(page, '200').nth(1).waitFor();
  const all = await endpoint.until(4);
  const [first] = all;
  t.equal(all.filter(({ id }) => id === first!.id).length, 3, 'refused, taken, and taken once more');
  t.same([...new Set(all.map(({ body }) => body.type))].sort(), ['email.bounced', 'email.delivered']);
  for (const { text, headers } of all) t.ok(new Webhook(secret).verify(text, headers));

  await page.getByRole('button', { name: 'Send test event' }).click();
  await told(page, 'The endpoint accepted the test event.');
  t.match((await endpoint.until(5)).at(-1)!.body, { type: 'test' });
}

async function makeTemplate(t: Test, journey: Journey) {
  const { page, sink } = journey;
  await goTo(page, 'Templates');
  await page.getByRole('link', { name: 'Create template' }).click();
  await page.getByLabel('Name').fill('Ticket');
  await page.getByLabel('HTML', { exact: true }).fill('<h1>Hello {{ name }}</h1>');
  await page.getByLabel('Text', { exact: true }).fill('Hello {{ name }}');
  await page.getByLabel('Sample data').fill('{"name": "Ann & Bob"}');
  const preview = page.getByTitle('The HTML part').contentFrame();
  await preview.getByRole('heading', { name: 'Hello Ann & Bob' }).waitFor();
  await page.getByRole('button', { name: 'Create template' }).click();
  await told(page, 'Template created.');
  t.equal(await page.getByLabel('Sample data').inputValue(), '{"name": "Ann & Bob"}', 'it is not typed twice');
  const template_id = await copied(page, 'the template ID');
  const seen = sink.mails.length;
  await send(journey, { to: 'bob@receiver.test', subject: 'Your seat', template_id, data: { name: 'Bob' } });
  const mail = (await sink.received(seen + 1)).at(-1)!;
  t.match(mail.raw.toString(), '<h1>Hello Bob</h1>');
}

async function runQueue(t: Test, journey: Journey) {
  const { page, desk } = journey;
  await send(journey, { to: 'later@receiver.test', subject: 'Your receipt' });
  await goTo(page, 'Messages');
  await page.getByRole('link', { name: 'later@receiver.test' }).click();
  await page.getByText('Attempt 1: deferred').waitFor();

  await goTo(desk, 'Queue');
  await desk.getByRole('link', { name: 'mx.receiver.test' }).click();
  const reason = 'Their postmaster asks us to wait';
  await decide(desk.getByRole('main'), { open: 'Pause', button: 'Pause', fill: { Reason: reason } });
  await told(desk, 'Paused.');
  await send(journey, { to: 'dan@receiver.test', subject: 'Your receipt' });
  await goTo(page, 'Messages');
  await page.getByRole('link', { name: 'dan@receiver.test' }).click();
  await page.getByRole('heading', { name: 'Why it is waiting' }).waitFor();
  t.match(await page.textContent('main'), 'The operator of this service has paused mail to this provider.');
  await decide(desk.getByRole('main'), { open: 'Resume', button: 'Resume' });
  await told(desk, 'Resumed.');
  await page.getByText('Attempt 1: accepted by the receiving server').waitFor();

  await goTo(desk, 'Audit log');
  t.match(await rowWith(desk, 'queue pause').textContent(), reason);
  t.match(await rowWith(desk, 'queue resume').textContent(), OPERATOR);
  await goTo(page, 'Settings');
  await page.getByRole('link', { name: 'Audit log' }).click();
  await rowWith(page, 'webhook created').waitFor();
  t.match(await rowWith(page, 'key created').textContent(), /eve@receiver\.test.*shop, production/);
}
