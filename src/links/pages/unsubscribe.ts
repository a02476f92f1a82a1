// One-click unsubscribe (RFC 8058). GET only asks, because scanners follow links; POST acts, for mail programs and for
// the page's own button. The token is enough: no cookie, no login.

import { createHash } from 'node:crypto';
import { escapeHtml } from '../../http/html.ts';
import type { HttpReply, HttpRequest } from '../../http/http.ts';
import type { Route } from '../../http/router.ts';
import type { KeyLookup } from '../../protocol/mail/addresses/message-token.ts';
import type { StoreVerbs } from '../../store/store.ts';
import { LINK_PATHS, readUnsubscribeToken, type UnsubscribeToken } from '../link-token.ts';
import { type UnsubscribeKit, unsubscribe } from '../unsubscribe.ts';
import { NEVER_STORED } from './link-request.ts';

export interface UnsubscribePageKit extends UnsubscribeKit {
  store: UnsubscribeKit['store'] & StoreVerbs<{ tracking: 'findTracked' }>;
}

/** `List-Unsubscribe=One-Click` has 26 bytes; as multipart/form-data about a hundred. */
const MAX_BODY_BYTES = 16 * 1024;

const PATTERN = `${LINK_PATHS.unsubscribe}:token`;

export function unsubscribeRoutes(keys: KeyLookup, kit: UnsubscribePageKit): Route[] {
  return [
    {
      method: 'GET',
      pattern: PATTERN,
      async handler(_, { token = '' }) {
        const message = readUnsubscribeToken(token, keys);
        return message === null ? unknownLinkPage() : questionPage(await shownFacts(kit, message));
      },
    },
    {
      method: 'POST',
      pattern: PATTERN,
      async handler(request, { token = '' }) {
        const message = readUnsubscribeToken(token, keys);
        if (message === null) return unknownLinkPage();
        await discardBody(request);
        try {
          await unsubscribe(kit, message);
        } catch (error) {
          kit.log.error({ error, message_id: message.messageId }, 'an unsubscribe could not be stored');
          return failurePage();
        }
        return donePage(await shownFacts(kit, message));
      },
    },
  ];
}

/**
 * By RFC 8058 section 3.2 the body is `List-Unsubscribe=One-Click`. It is not checked: a token and a POST are clear
 * enough, and with a wrong body the recipient still wants no more mail.
 */
async function discardBody(request: HttpRequest): Promise<void> {
  await request.readBody(MAX_BODY_BYTES);
}

/** The sender's name is optional, and must not cause a failure. */
async function shownFacts({ store }: UnsubscribePageKit, { tenantId, messageId, recipient }: UnsubscribeToken) {
  const message = await store.tracking.findTracked(tenantId, messageId).catch(() => null);
  return { recipient, fromDomain: message?.fromDomain ?? null };
}

// The pages for recipients who unsubscribe: a question, and the result. One small page without script, pictures or
// external resources; it follows the reader's choice of light or dark.

interface UnsubscribeFacts {
  recipient: string;
  /** Null once the message is erased. */
  fromDomain: string | null;
}

const STYLE = `
:root { color-scheme: light dark; --text: #1b1d22; --quiet: #555b66; --page: #f6f7f9; --card: #fff; --edge: #d5d9e0; --act: #1a4fbf; --on-act: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #eceef2; --quiet: #a9b0bd; --page: #14161a; --card: #1e2127; --edge: #3a3f49; --act: #8ab0ff; --on-act: #0c1222; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--page);
  color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 30rem; padding: 2rem 1.5rem; background: var(--card); border: 1px solid var(--edge); border-radius: .75rem; }
h1 { margin: 0 0 1rem; font-size: 1.375rem; line-height: 1.3; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
p:last-child { margin: 0; }
.quiet { color: var(--quiet); }
button { width: 100%; min-height: 3rem; margin: .5rem 0 1.5rem; padding: .75rem 1rem; border: 0; border-radius: .5rem;
  background: var(--act); color: var(--on-act); font: inherit; font-weight: 600; cursor: pointer; }
button:focus-visible { outline: 3px solid var(--text); outline-offset: 2px; }
`;

/** Only this style, and a form that leads back here. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

function questionPage({ recipient, fromDomain }: UnsubscribeFacts): HttpReply {
  const title = 'Unsubscribe?';
  return page(200, title, [
    `<p><strong>${escapeHtml(recipient)}</strong> will no longer receive mail from ${sender(fromDomain)}.</p>`,
    // The field that mail programs send by RFC 8058 section 3.1.
    '<form method="post">',
    '<input type="hidden" name="List-Unsubscribe" value="One-Click">',
    '<button type="submit">Unsubscribe</button>',
    '</form>',
    '<p class="quiet">Nothing changes until you press the button. If you came here by mistake, close this page.</p>',
  ]);
}

function donePage({ recipient, fromDomain }: UnsubscribeFacts): HttpReply {
  return page(200, 'You are unsubscribed', [
    `<p role="status"><strong>${escapeHtml(recipient)}</strong> no longer receives mail from ${sender(fromDomain)}.</p>`,
    '<p class="quiet">Mail that is already on its way may still arrive. To receive mail again, ask the sender. You can close this page.</p>',
  ]);
}

function failurePage(): HttpReply {
  const reply = page(503, 'Something went wrong', [
    '<p role="alert">We couldn’t save this just now, so nothing has changed. Please try again in a few minutes.</p>',
  ]);
  return { ...reply, headers: { ...reply.headers, 'Retry-After': '60' } };
}

function unknownLinkPage(): HttpReply {
  return page(404, 'This link doesn’t work', [
    '<p>It is incomplete or was changed on its way. Please open it from the mail again, or copy it completely.</p>',
  ]);
}

function page(status: number, title: string, lines: readonly string[]): HttpReply {
  return {
    status,
    headers: {
      ...NEVER_STORED,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    },
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${lines.join('\n')}
</main>
</body>
</html>
`,
  };
}

/** The list is the tenant's: it covers each of its domains. */
function sender(fromDomain: string | null): string {
  return fromDomain === null
    ? 'this sender'
    : `<strong>${escapeHtml(fromDomain)}</strong> or the sender’s other domains`;
}
