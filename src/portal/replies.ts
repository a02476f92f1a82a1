// Turns what a page answers into an HTTP reply: the frame around it, and headers that allow nothing but
// files of our own. Pages are private: no cache keeps a copy.
import { html } from '../http/html.ts';
import type { HttpReply } from '../http/http.ts';
import type { Assets } from './assets.ts';
import { type FrameFacts, frame } from './frame.ts';
import type { PageResult } from './page.ts';

/** Frames are for previews of mail, which have a stricter policy of their own. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PRIVATE = {
  'Cache-Control': 'no-store, private',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex, nofollow',
} as const;

const HTML_TYPE = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': CONTENT_SECURITY_POLICY };

type VisitFacts = Pick<FrameFacts, 'path' | 'visitor' | 'notice' | 'formField' | 'lacksSecondStep'>;

export class Replies {
  readonly #assets: Assets;
  readonly #sandbox: boolean;

  constructor({ assets, sandbox }: { assets: Assets; sandbox: boolean }) {
    this.#assets = assets;
    this.#sandbox = sandbox;
  }

  reply(result: PageResult, facts: VisitFacts, cookies: readonly string[]): HttpReply {
    const headers = { ...PRIVATE, ...(cookies.length > 0 && { 'Set-Cookie': cookies }) };
    switch (result.kind) {
      case 'redirect':
        return { status: 303, headers: { ...headers, Location: result.to } };
      case 'document':
        return { status: result.status, headers: { ...headers, ...result.headers }, body: result.body };
      case 'missing': {
        const back = facts.visitor
          ? html`<a href="/portal">Go to the overview</a>`
          : html`<a href="/portal/sign-in">Sign in</a>, or read the <a href="/docs/guide">guide</a>`;
        const body = html`<h1>Not found</h1><p>${result.message}</p><p>${back}.</p>`;
        return this.#framed({ status: 404, title: 'Not found', body, scripts: [] }, facts, headers);
      }
      case 'view':
        return this.#framed(result, facts, headers);
    }
  }

  /** Without anything that could fail again. */
  failure(): HttpReply {
    const facts = { path: '', visitor: null, notice: null, formField: html``, lacksSecondStep: false };
    const body = html`<h1>Something went wrong</h1>
<p>An error occurred on our side and was logged. Please try again in a minute.</p>`;
    return this.#framed({ status: 500, title: 'Something went wrong', body, scripts: [] }, facts, PRIVATE);
  }

  #framed(
    { status, title, body, scripts }: Omit<Extract<PageResult, { kind: 'view' }>, 'kind'>,
    facts: VisitFacts,
    headers: Record<string, string | readonly string[]>,
  ): HttpReply {
    const styles = [this.#assets.pathOf('portal.css')];
    const files = ['portal.js', ...scripts].map((name) => this.#assets.pathOf(name));
    const page = frame({ ...facts, title, body, styles, scripts: files, sandbox: this.#sandbox });
    return { status, headers: { ...headers, ...HTML_TYPE }, body: page };
  }
}
