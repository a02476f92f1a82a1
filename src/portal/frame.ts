// The frame around every page: head, way through the portal, notice, foot. Scripts and styles come as
// files of our own alone, so that the policy can forbid everything else.
import { type Html, html } from '../http/html.ts';
import type { Visitor } from '../store/accounts.ts';
import { currentEntry, navigationOf } from './navigation.ts';
import type { Notice } from './notice.ts';
import { SECOND_STEP_PATH } from './page.ts';

export interface FrameFacts {
  title: string;
  body: Html;
  path: string;
  visitor: Visitor | null;
  notice: Notice | null;
  formField: Html;
  /** No other page would open. */
  lacksSecondStep: boolean;
  sandbox: boolean;
  /** Paths of the files that it loads. */
  styles: readonly string[];
  scripts: readonly string[];
}

/** Beside the name, which says the same. */
const MARK = html`<img src="/favicon.svg" alt="" width="28" height="28">`;

export function frame(facts: FrameFacts): string {
  const { title, styles, scripts, visitor } = facts;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Postrider</title>
<link rel="icon" href="/favicon.ico" sizes="32x32">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
${styles.map((path) => html`<link rel="stylesheet" href="${path}">`)}
${scripts.map((path) => html`<script type="module" src="${path}"></script>`)}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${visitor ? signedIn(facts, visitor) : signedOut(facts)}
</body>
</html>
`.text;
}

function signedIn(facts: FrameFacts, visitor: Visitor): Html {
  const entries = navigationOf(visitor, facts.sandbox);
  const current = currentEntry(entries, facts.path);
  const links = entries.map(
    (entry) =>
      html`<li><a href="${entry.path}"${entry === current && html` aria-current="page"`}>${entry.label}</a></li>`,
  );
  return html`<div class="frame">
<header class="side">
<a class="brand" href="${entries[0]!.path}">${MARK}Postrider</a>
<p class="whose">${visitor.tenant?.name ?? 'Operator'}${facts.sandbox && html` <span class="badge">sandbox</span>`}</p>
<details class="menu" open><summary>Menu</summary>
${!facts.lacksSecondStep && html`<nav aria-label="Portal"><ul>${links}</ul></nav>`}
<div class="self">
<a href="/docs/guide">Guide</a>
<a href="/docs">API reference</a>
<a href="${facts.lacksSecondStep ? SECOND_STEP_PATH : '/portal/account'}"${facts.path === '/portal/account' && html` aria-current="page"`}>${visitor.user.email}</a>
<form method="post" action="/portal/sign-out">${facts.formField}<button class="plain">Sign out</button></form>
</div>
</details>
</header>
<main id="main" tabindex="-1">
${noticeOf(facts)}${facts.body}
</main>
</div>`;
}

function signedOut(facts: FrameFacts): Html {
  return html`<main id="main" class="alone" tabindex="-1">
<p class="brand">${MARK}Postrider</p>
${noticeOf(facts)}${facts.body}
<p class="quiet"><a href="/docs/guide">Guide</a> · <a href="/docs">API reference</a></p>
</main>`;
}

function noticeOf({ notice }: FrameFacts): Html | null {
  if (notice === null) return null;
  return html`<p class="notice${notice.tone === 'warn' && ' warn'}" role="status">${notice.text}</p>\n`;
}
