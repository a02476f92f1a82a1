// The kernel of the portal: every page and every form goes through `answer`, in this order: who is it,
// may they, was the form shown to them, then the page itself, then frame, cookies and headers.
import { randomBytes } from 'node:crypto';
import { type Clock, SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { isUuid } from '../base/ids.ts';
import { parseFormBody } from '../http/form-body.ts';
import { html } from '../http/html.ts';
import type { HttpReply, HttpRequest } from '../http/http.ts';
import type { FormBody } from '../http/multipart.ts';
import type { PathParams, Route, RouterOptions } from '../http/router.ts';
import type { Logger } from '../observe/log.ts';
import type { Visitor } from '../store/accounts.ts';
import { admit, hasRole } from './access.ts';
import { ActionLimit } from './action-limit.ts';
import { loadAssets } from './assets.ts';
import { type Cookies, portalCookies } from './cookies.ts';
import { comesFromElsewhere, FORM_TOKEN_FIELD, formToken, formTokenHolds } from './form-guard.ts';
import { openNotice, sealNotice } from './notice.ts';
import {
  missing,
  type PageResult,
  type PortalRoute,
  page,
  redirect,
  SECOND_STEP_PATH,
  type Visit,
  view,
} from './page.ts';
import { Replies } from './replies.ts';
import { SentForms } from './sent-forms.ts';

export interface AuditEntry {
  action: string;
  visitor: Visitor | null;
  ip: string;
  at: number;
  details: Readonly<Record<string, string | number | boolean | null>>;
}

export interface PortalKit {
  clock: Clock;
  log: Logger;
  /** `service.base_url`. */
  baseUrl: string;
  sandbox: boolean;
  /** Whose session the token is, if it is one. */
  findVisitor(token: string, address: string): Promise<Visitor | null>;
  /** The same, but it is no visit: the session ends as if nobody had asked. */
  peekVisitor(token: string): Promise<Visitor | null>;
  /** Whether the visitor may see nothing but the page on which a second step is set up. */
  lacksSecondStep(visitor: Visitor): Promise<boolean>;
  recordAudit(entry: AuditEntry): Promise<void>;
}

interface RoutedRequest {
  request: HttpRequest;
  params: PathParams;
  visitor: Visitor | null;
  /** What forms and notices are bound to: the token of the session or of the guest. */
  secret: string;
  /** A guest who has not been here before. */
  newGuest: boolean;
  cookies: Cookies;
  lacksSecondStep: boolean;
}

const SIGN_IN = '/portal/sign-in';
/** Of what an open page asks for again and again (`assets/portal.js`). */
const POLL_HEADER = 'postrider-poll';
const GUEST_BYTES = 16;
const GUEST_AGE_SECS = 24 * 60 * 60;
const NO_FORM: FormBody = { fields: new URLSearchParams(), files: new Map() };

export interface PortalSite extends Pick<RouterOptions, 'notFound' | 'methodNotAllowed'> {
  routes: Route[];
}

const NO_PARAMS: PathParams = {};

/** Reads the assets at once; call at the start. */
export function createPortal(kit: PortalKit, pages: readonly PortalRoute[]): PortalSite {
  const assets = loadAssets();
  const portal = new Portal(kit, new Replies({ assets, sandbox: kit.sandbox }));
  const routes = pages.map((route): Route => {
    const handler = (request: HttpRequest, params: PathParams) => portal.answer(route, request, withIdsOfOurs(params));
    return { method: route.method, pattern: route.path, handler };
  });
  return {
    routes: [...assets.routes, ...routes],
    notFound: (request) => portal.answer(UNKNOWN, request, NO_PARAMS),
    methodNotAllowed: (request) => portal.answer(WRONG_METHOD, request, NO_PARAMS),
  };
}

/** An ID may be typed in upper case; pauses, links and comparisons know it in lower case only. */
function withIdsOfOurs(params: PathParams): PathParams {
  const same = ([name, value]: [string, string]) => [name, isUuid(value) ? value.toLowerCase() : value];
  return Object.fromEntries(Object.entries(params).map(same));
}

/** Whatever the method: nothing is done, so no form is looked at. */
const UNKNOWN = page({ path: '(unknown)', access: 'everybody', show: () => missing() });

/** Somebody has reloaded what a form had led to, or comes back to it after signing in. */
const WRONG_METHOD = page({
  path: '(wrong method)',
  access: 'everybody',
  show: () => refusal(405, 'Nothing to show here', 'This address only accepts submitted forms. Nothing was changed.'),
});

class Portal {
  readonly #kit: PortalKit;
  readonly #replies: Replies;
  readonly #cookiesOf: (request: HttpRequest) => Cookies;
  readonly #limit: ActionLimit;
  readonly #sent = new SentForms();

  constructor(kit: PortalKit, replies: Replies) {
    this.#kit = kit;
    this.#replies = replies;
    this.#cookiesOf = portalCookies(kit.baseUrl);
    this.#limit = new ActionLimit(kit.clock);
  }

  async answer(route: PortalRoute, request: HttpRequest, params: PathParams): Promise<HttpReply> {
    const { log } = this.#kit;
    const about = { method: request.method, route: route.path, client: request.clientAddress };
    try {
      const asked = await this.#askedBy(request, params);
      const result = await this.#resultOf(route, asked);
      return this.#replyTo(asked, result);
    } catch (error) {
      log.error({ ...about, error, reason: describeError(error) }, 'a portal page failed');
      return this.#replies.failure();
    }
  }

  async #askedBy(request: HttpRequest, params: PathParams): Promise<RoutedRequest> {
    const cookies = this.#cookiesOf(request);
    const token = cookies.read(request, 'session');
    const visitor = token === null ? null : await this.#visitorOf(token, request);
    if (visitor) {
      const lacksSecondStep = await this.#kit.lacksSecondStep(visitor);
      return { request, params, visitor, secret: token!, newGuest: false, cookies, lacksSecondStep };
    }
    const known = cookies.read(request, 'guest');
    const secret = known ?? newGuestSecret();
    return { request, params, visitor: null, secret, newGuest: known === null, cookies, lacksSecondStep: false };
  }

  #visitorOf(token: string, request: HttpRequest): Promise<Visitor | null> {
    const isPoll = request.method === 'GET' && request.header(POLL_HEADER) !== undefined;
    return isPoll ? this.#kit.peekVisitor(token) : this.#kit.findVisitor(token, request.clientAddress);
  }

  async #resultOf(route: PortalRoute, asked: RoutedRequest): Promise<PageResult> {
    const { request, visitor } = asked;
    const admission = admit(route.access, visitor);
    if (admission.kind === 'sign_in') return redirect(signInPath(request), 'Please sign in first.', 'warn');
    const isOpen = route.access === 'everybody' || route.withoutSecondStep;
    if (asked.lacksSecondStep && !isOpen) return redirect(SECOND_STEP_PATH);
    if (admission.kind === 'missing') return visitor!.tenant ? missing() : toOperatorArea(request);
    if (admission.kind === 'role') return refusal(403, 'You don’t have permission', admission.message);
    if (route.method === 'GET') return route.answer(this.#visitOf(asked, NO_FORM));
    if (route.access === 'everybody') return this.#act(route, asked);
    const permission = this.#limit.take(visitor!.user.id);
    if (permission.kind === 'wait') return tooMany(permission.seconds);
    try {
      return await this.#act(route, asked);
    } finally {
      permission.done();
    }
  }

  async #act(route: PortalRoute, asked: RoutedRequest): Promise<PageResult> {
    const form = await this.#formOf(route, asked);
    if ('kind' in form) return form;
    const act = () => route.answer(this.#visitOf(asked, form));
    // Guests make nothing, and there may be any number of them.
    return asked.visitor ? this.#sent.once(`${asked.visitor.user.id} ${asked.request.path}`, form, act) : act();
  }

  async #formOf(
    { limitBytes }: PortalRoute,
    { request, secret, newGuest }: RoutedRequest,
  ): Promise<FormBody | PageResult> {
    const body = await request.readBody(limitBytes);
    if (body.kind === 'too_large') {
      const limit = `${Math.floor(limitBytes / 1024)} KiB`;
      return refusal(413, 'Too much data', `This form accepts at most ${limit}. Go back and send less at once.`);
    }
    const form = body.kind === 'body' ? parseFormBody(request.header('content-type'), body.bytes) : null;
    if (!form) return refusal(400, 'The form couldn’t be read', 'Go back and submit it again.');
    const guarded =
      !comesFromElsewhere(request, this.#kit.baseUrl) &&
      formTokenHolds(newGuest ? null : secret, form.fields.get(FORM_TOKEN_FIELD));
    if (guarded) return form;
    return refusal(403, 'This form has expired', 'Go back, reload the page and submit the form again.');
  }

  #visitOf({ request, params, visitor, secret, cookies }: RoutedRequest, form: FormBody): Visit {
    const { clock, recordAudit } = this.#kit;
    const userAgent = request.header('user-agent') ?? '';
    const client = { ip: request.clientAddress, userAgent, browser: cookies.read(request, 'browser') };
    return {
      path: request.path,
      params,
      query: request.query,
      form: form.fields,
      files: form.files,
      client,
      visitor,
      now: clock.now(),
      formField: formField(secret),
      may: (role) => visitor !== null && hasRole(visitor, role),
      audit: (action, details = {}) => recordAudit({ action, visitor, ip: client.ip, at: clock.now(), details }),
    };
  }

  #replyTo(asked: RoutedRequest, result: PageResult): HttpReply {
    const { request, visitor, secret, cookies } = asked;
    const lines = result.kind === 'redirect' ? cookiesOfRedirect(asked, result) : [];
    if (asked.newGuest) lines.push(cookies.set('guest', secret, GUEST_AGE_SECS));
    const sealed = cookies.read(request, 'notice');
    const shown = result.kind === 'view' || result.kind === 'missing';
    const notice = shown && sealed !== null ? openNotice(sealed, secret) : null;
    if (shown && sealed !== null) lines.push(cookies.clear('notice'));
    const { lacksSecondStep } = asked;
    const facts = { path: request.path, visitor, notice, formField: formField(secret), lacksSecondStep };
    return this.#replies.reply(result, facts, lines);
  }
}

/** Whoever signs in or out goes on with another secret. */
function cookiesOfRedirect(
  { secret, cookies }: RoutedRequest,
  { session, browser, notice, tone = 'good' }: Extract<PageResult, { kind: 'redirect' }>,
): string[] {
  const lines: string[] = [];
  let nextSecret = secret;
  if (session === 'ended') {
    nextSecret = newGuestSecret();
    lines.push(cookies.clear('session'), cookies.set('guest', nextSecret, GUEST_AGE_SECS));
  } else if (session) {
    nextSecret = session.token;
    lines.push(cookies.set('session', session.token, seconds(session.maxAgeMs)));
  }
  if (browser) lines.push(cookies.set('browser', browser.value, seconds(browser.maxAgeMs)));
  if (notice !== null) {
    lines.push(cookies.set('notice', sealNotice({ text: notice, tone }, nextSecret), NOTICE_AGE_SECS));
  }
  return lines;
}

const NOTICE_AGE_SECS = 60;

function newGuestSecret(): string {
  return randomBytes(GUEST_BYTES).toString('base64url');
}

function seconds(ms: number): number {
  return Math.floor(ms / SECOND_MS);
}

function formField(secret: string) {
  return html`<input type="hidden" name="${FORM_TOKEN_FIELD}" value="${formToken(secret)}">`;
}

/** Back to the page that was asked for. */
function signInPath({ method, path, queryText }: HttpRequest): string {
  if (method !== 'GET' || path === '/portal') return SIGN_IN;
  return `${SIGN_IN}?next=${encodeURIComponent(queryText ? `${path}?${queryText}` : path)}`;
}

/** Operators have no tenant: the portal's front door is another one for them. */
function toOperatorArea({ path }: HttpRequest): PageResult {
  return path === '/portal' ? redirect('/portal/operator') : missing();
}

function tooMany(seconds: number): PageResult {
  const wait = `Wait ${seconds} second${seconds === 1 ? '' : 's'}, then go back and submit the form again.`;
  return refusal(429, 'Too many requests', wait);
}

function refusal(status: number, title: string, message: string): PageResult {
  return view({ status, title, body: html`<h1>${title}</h1><p>${message}</p>` });
}
