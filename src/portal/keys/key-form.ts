// The form for a new API key: what may be chosen, and what each choice means.
import { type Html, html } from '../../http/html.ts';
import type { Domain } from '../../store/domains.ts';
import type { Scope } from '../../store/tenants.ts';
import type { KeyRequest } from '../../tenants/keys.ts';
import type { Refused } from '../../tenants/refused.ts';
import { checkbox, field, heading, problemBox, select } from '../elements.ts';
import { formIdField } from '../sent-forms.ts';

const SCOPE_MEANINGS: Record<Scope, string> = {
  'emails:send': 'Send mail: POST /emails. What most programs need.',
  'domains:write': 'Register, verify and remove sending domains. For programs that set up domains for your customers.',
  'webhooks:write': 'Register and delete webhooks. For programs that set up their own endpoint.',
  'templates:write': 'Create, change and delete templates. For a pipeline that deploys templates.',
  'suppressions:write':
    'Add and remove suppressed addresses. For programs with their own unsubscribe page or address checks.',
};

const MOST_NAME_CHARS = 200;

export interface KeyProblem {
  field: 'name' | 'scopes' | 'domain' | null;
  message: string;
}

export function emptyKeyRequest(): KeyRequest {
  return { name: '', scopes: ['emails:send'], boundDomain: null };
}

export function readKeyRequest(form: URLSearchParams): KeyRequest {
  const domain = form.get('domain') ?? '';
  return { name: form.get('name') ?? '', scopes: form.getAll('scopes'), boundDomain: domain === '' ? null : domain };
}

export function keyProblem({ field: at, message }: Refused): KeyProblem {
  const known = at === 'name' || at === 'scopes' || at === 'domain' ? at : null;
  const label = { name: 'The name ', scopes: '', domain: '' }[known ?? 'domain'];
  const sentence = `${label}${message}`;
  return {
    field: known,
    message: `${sentence[0]!.toUpperCase()}${sentence.slice(1)}${/[.!?]$/.test(sentence) ? '' : '.'}`,
  };
}

export interface KeyFormFacts {
  wish: KeyRequest;
  domains: readonly Domain[];
  formField: Html;
  problem?: KeyProblem;
}

export function keyForm({ wish, domains, formField, problem }: KeyFormFacts): Html {
  const at = (name: KeyProblem['field']) => (problem?.field === name ? problem.message : null);
  return html`<p class="crumb"><a href="/portal/keys">API keys</a></p>
${heading('New API key')}
${problemBox(at(null) ?? at('scopes') ?? at('domain'))}
<form method="post" action="/portal/keys/new" class="card">${formField}${formIdField()}
${field({
  name: 'name',
  label: 'Name',
  value: wish.name,
  required: true,
  maxLength: MOST_NAME_CHARS,
  autocomplete: 'off',
  hint: 'A name to recognize it by, like “shop, production”.',
  problem: at('name'),
})}
<fieldset><legend>Permissions</legend>
<p class="hint">Every key can read domains, templates, webhooks, suppressions, events and messages. A key without any scope can only read.</p>
${Object.entries(SCOPE_MEANINGS).map(([scope, hint]) =>
  checkbox({ name: 'scopes', value: scope, label: scope, hint, checked: wish.scopes.includes(scope) }),
)}</fieldset>
${select(
  {
    name: 'domain',
    label: 'Sends from',
    hint: 'A restricted key can only send from this domain and can’t register others.',
  },
  domainChoices(domains),
  wish.boundDomain ?? '',
)}
<div class="actions"><button class="primary">Create key</button><a class="button" href="/portal/keys">Cancel</a></div>
</form>`;
}

function domainChoices(domains: readonly Domain[]) {
  const names = domains
    .filter(({ state }) => state !== 'revoked')
    .map(({ name, state }) => {
      return { value: name, label: state === 'verified' ? name : `${name} (not verified yet)` };
    });
  return [{ value: '', label: 'Any of your domains' }, ...names];
}
