// The one page that shows an API key, with a call that works as it stands.
import { type Html, html } from '../../http/html.ts';
import type { Domain } from '../../store/domains.ts';
import type { ApiKey } from '../../store/tenants.ts';
import { copyable, copyableBlock, heading } from '../elements.ts';

export interface CreatedKeyFacts {
  key: ApiKey;
  token: string;
  domains: readonly Domain[];
  baseUrl: string;
  /** Whom the example is sent to: the reader. */
  to: string;
}

export function createdKey(facts: CreatedKeyFacts): Html {
  const { key, token } = facts;
  return html`<p class="crumb"><a href="/portal/keys">API keys</a></p>
${heading('Your new API key')}
<div class="card">
<p class="notice warn">Copy the key now. It isn’t stored and won’t be shown again.</p>
<h2>${key.name}</h2>
<p class="secret">${copyable(token, 'the API key')}</p>
${exampleCall(facts)}
</div>
<p><a class="button primary" href="/portal/keys">Done</a></p>`;
}

function exampleCall({ key, token, domains, baseUrl, to }: CreatedKeyFacts): Html {
  const header = `-H ${inShell(`Authorization: Bearer ${token}`)}`;
  if (!key.scopes.includes('emails:send')) {
    const call = `curl ${inShell(`${baseUrl}/domains`)} ${header}`;
    return html`<h3>Try it</h3>${copyableBlock(call, 'the call')}`;
  }
  const verified = domains.filter(({ state }) => state === 'verified').map(({ name }) => name);
  const domain = key.boundDomain ?? verified[0] ?? null;
  const mail = {
    from: `hello@${domain ?? 'your-domain.example'}`,
    to,
    subject: 'Hello from Postrider',
    text: 'It works.',
  };
  const call = `curl ${inShell(`${baseUrl}/emails`)} \\
  ${header} \\
  -H 'Content-Type: application/json' \\
  -d ${inShell(JSON.stringify(mail))}`;
  return html`<h3>Try it: a message to yourself</h3>${copyableBlock(call, 'the call')}${
    (domain === null || !verified.includes(domain)) &&
    html`<p class="notice info">Before this call works, ${
      domain === null ? 'you need' : html`<strong>${domain}</strong> must be`
    } <a href="/portal/domains">a verified domain</a>.</p>`
  }`;
}

/** One word for a POSIX shell, whatever is in it. */
function inShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
