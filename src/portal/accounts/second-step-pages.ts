// Setting up the second step of signing in, and taking it away. Each begins with the password: a browser that was
// left open must not be enough. Secret and recovery codes are shown on the answer to a form, and never again.
import { timingSafeEqual } from 'node:crypto';
import { type Html, html } from '../../http/html.ts';
import type { SecondFactor, Visitor } from '../../store/accounts.ts';
import { secondFactorMail } from '../../tenants/accounts/account-mails.ts';
import { isSecondStepRequired } from '../../tenants/accounts/second-step-rule.ts';
import { secretInWords, totpUri } from '../../tenants/accounts/totp.ts';
import { confirmed, copyable, copyableBlock, field, heading, problemBox } from '../elements.ts';
import {
  action,
  type PageResult,
  type PortalRoute,
  page,
  redirect,
  SECOND_STEP_PATH,
  type Visit,
  view,
} from '../page.ts';
import { qrCode } from './qr-code.ts';
import type { SignInServices } from './sign-in-pages.ts';
import { waitingTime } from './waiting-time.ts';

const PATH = SECOND_STEP_PATH;
type OwnVisit = Visit<Visitor>;

export function secondStepPages(services: SignInServices): PortalRoute[] {
  const back = () => redirect(PATH);
  const open = { access: 'user', withoutSecondStep: true } as const;
  return [
    page({ ...open, path: PATH, show: (visit) => show(services, visit) }),
    action({ ...open, path: `${PATH}/begin`, run: (visit) => begin(services, visit) }),
    page({ ...open, path: `${PATH}/begin`, show: back }),
    action({ ...open, path: `${PATH}/confirm`, run: (visit) => confirm(services, visit) }),
    page({ ...open, path: `${PATH}/confirm`, show: back }),
    action({ path: `${PATH}/codes`, access: 'user', run: (visit) => newCodes(services, visit) }),
    page({ path: `${PATH}/codes`, access: 'user', show: back }),
    action({ path: `${PATH}/off`, access: 'user', run: (visit) => turnOff(services, visit) }),
    page({ path: `${PATH}/off`, access: 'user', show: back }),
  ];
}

async function show({ accounts }: SignInServices, visit: OwnVisit, problem: string | null = null): Promise<PageResult> {
  const { user } = visit.visitor;
  const factor = await accounts.secondFactors.findConfirmed(user.id);
  const required = isSecondStepRequired(accounts.secondStepFor, user);
  return view({
    title: 'Second step',
    status: problem === null ? 200 : 422,
    body: html`${!(required && factor === null) && CRUMB}${heading('Second step')}${problemBox(problem)}${
      factor ? manageForms(visit, factor, required) : setUpForm(visit, required)
    }`,
  });
}

const CRUMB = html`<p class="crumb"><a href="/portal/account">Your account</a></p>`;

function manageForms({ formField }: OwnVisit, { recoveryCodes }: SecondFactor, required: boolean): Html {
  const off = required
    ? 'The device and its recovery codes stop working. No other page opens until you have set up a second step again.'
    : 'Whoever learns your password can sign in then.';
  return html`<div class="card"><p>Signing in asks for a code of your device. ${recoveryCodes} recovery codes are left.</p>
<p>Is the device lost? Turn the second step off, then set it up with another one.</p>
<div class="actions">
${confirmed({ label: 'New recovery codes', question: 'The old codes stop working.', action: `${PATH}/codes`, formField, button: 'Make new codes', fields: passwordField('codes') })}
${confirmed({ label: 'Turn it off', question: off, action: `${PATH}/off`, formField, button: 'Turn it off', fields: passwordField('off') })}
</div></div>`;
}

function setUpForm({ formField }: OwnVisit, required: boolean): Html {
  return html`${required && html`<p class="notice warn">This service requires a second step for your account. No other page opens until you have set it up.</p>`}
<p>You need an authenticator app on your phone or in your password manager. It shows a new code of six digits every half a minute, without a network.</p>
<form method="post" action="${PATH}/begin" class="card">${formField}
${passwordField('begin')}<button class="primary">Go on</button></form>`;
}

/** With an id of its own: the page has several. */
function passwordField(of: string): Html {
  const id = `password-${of}`;
  return html`<div class="field"><label for="${id}">Your password</label><input type="password" id="${id}" name="password" required autocomplete="current-password"></div>`;
}

/** What is shown when the password does not hold; null when it does. */
async function refusedPassword(services: SignInServices, visit: OwnVisit): Promise<PageResult | null> {
  const { visitor, form, client } = visit;
  const asked = await services.signIn.confirmPassword(visitor.user, form.get('password') ?? '', client);
  if (asked === 'right') return null;
  if (asked === 'wrong') return show(services, visit, 'This is not your password.');
  return show(services, visit, `Too many tries. Wait ${waitingTime(asked.waitMs)}, then try again.`);
}

async function begin(services: SignInServices, visit: OwnVisit): Promise<PageResult> {
  const refusal = await refusedPassword(services, visit);
  if (refusal) return refusal;
  const secret = await services.accounts.secondFactors.begin(visit.visitor.user.id);
  return secret ? secretPage(services, visit, secret) : redirect(PATH, 'You have a second step already.');
}

function secretPage(
  { accounts }: SignInServices,
  { formField, visitor }: OwnVisit,
  secret: Buffer,
  problem: string | null = null,
): PageResult {
  const issuer = `Postrider ${new URL(accounts.baseUrl).hostname}`;
  const uri = totpUri(secret, { issuer, account: visitor.user.email });
  return view({
    title: 'Second step',
    status: problem === null ? 200 : 422,
    body: html`<p class="crumb"><a href="/portal/account">Your account</a></p>${heading('Second step')}
<ol class="setup"><li><p>Scan this with your authenticator app.</p>
${qrCode(uri)}
<details><summary>It cannot be scanned?</summary><p>Type this key into the app: ${copyable(secretInWords(secret), 'the key')}</p>
<p>Or <a href="${uri}">open it in an app on this device</a>.</p></details></li>
<li><form method="post" action="${PATH}/confirm">${formField}<input type="hidden" name="key" value="${secretInWords(secret)}">
${field({ name: 'code', label: 'Type the code that the app shows', problem, required: true, autocomplete: 'one-time-code', maxLength: 10 })}
<button class="primary">Turn it on</button></form></li></ol>`,
  });
}

async function confirm(services: SignInServices, visit: OwnVisit): Promise<PageResult> {
  const { secondFactors, store, notify, ids } = services.accounts;
  const { user, session } = visit.visitor;
  const secret = await secondFactors.unconfirmedSecret(user.id);
  // The key comes back from the page that was shown after the password: who has not seen it does not see it here.
  if (!secret || !isSame(visit.form.get('key') ?? '', secretInWords(secret))) return redirect(PATH);
  const codes = await secondFactors.confirm(user.id, visit.form.get('code') ?? '');
  if (!codes) {
    return secretPage(
      services,
      visit,
      secret,
      'This code is wrong. Is the clock of the device right? Type the next one.',
    );
  }
  await store.accounts.endSessionsOf(user.id, session.id);
  await visit.audit('user.second_step_on');
  notify([user.email], { ...secondFactorMail(true), key: `second-step:${ids.next()}` });
  return codesPage('The second step is on', codes);
}

function isSame(one: string, other: string): boolean {
  const [given, expected] = [Buffer.from(one), Buffer.from(other)];
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function codesPage(title: string, codes: readonly string[]): PageResult {
  return view({
    title,
    body: html`${heading(title)}
<p class="notice warn">Keep these recovery codes where you do not need the device to read them. They are shown this once only.</p>
<p>When the device is lost, sign in with one of them in place of the code. Each works once.</p>
${copyableBlock(codes.join('\n'), 'the recovery codes')}
<p><a class="button primary" href="/portal/account">I have kept them</a></p>`,
  });
}

async function newCodes(services: SignInServices, visit: OwnVisit): Promise<PageResult> {
  const refusal = await refusedPassword(services, visit);
  if (refusal) return refusal;
  const codes = await services.accounts.secondFactors.renewCodes(visit.visitor.user.id);
  if (!codes) return redirect(PATH);
  await visit.audit('user.recovery_codes_renewed');
  return codesPage('New recovery codes', codes);
}

async function turnOff(services: SignInServices, visit: OwnVisit): Promise<PageResult> {
  const refusal = await refusedPassword(services, visit);
  if (refusal) return refusal;
  const { secondFactors, notify, ids } = services.accounts;
  const { user } = visit.visitor;
  if (await secondFactors.drop(user.id)) {
    await visit.audit('user.second_step_off');
    notify([user.email], { ...secondFactorMail(false), key: `second-step:${ids.next()}` });
  }
  return redirect('/portal/account', 'The second step is off.');
}
