// One DNS record: what to enter where, with everything to copy, and beside it what was found and how it differs.
import type { DnsRecordToPublish, ServiceNames } from '../../domains/checks.ts';
import { differences } from '../../domains/difference.ts';
import { spfBeside } from '../../domains/extended-spf.ts';
import { likelyZone, relativeHost } from '../../domains/host-names.ts';
import { quotedTxt, txtStrings } from '../../domains/txt-strings.ts';
import { mergedDmarc } from '../../domains/zone-file.ts';
import { type Html, html } from '../../http/html.ts';
import type { DomainCheck } from '../../store/domains.ts';
import { badge, copyable, copyableBlock, facts } from '../elements.ts';
import { checkBadge, RECORD_NAMES } from './domain-words.ts';

export interface RecordFacts {
  kind: DomainCheck['record'];
  domain: string;
  record: DnsRecordToPublish;
  check: DomainCheck | undefined;
  names: ServiceNames;
}

/** Of what strangers wrote, so much is shown. */
const MOST_FOUND = 5;
const MOST_FOUND_CHARS = 600;

export function recordCard({ kind, domain, record, check, names }: RecordFacts): Html {
  const name = RECORD_NAMES[kind];
  const zone = likelyZone(domain);
  return html`<section class="card record" aria-labelledby="record-${kind}">
<h3 id="record-${kind}">${name} ${record.required ? badge('required', 'busy') : badge('recommended')}</h3>
<p>${withoutName(record.purpose, name)}</p>
${facts([
  ['Type', record.type],
  [
    'Host',
    html`${copyable(relativeHost(record.name, zone), `the host of the ${name} record`)}${hostNote(record, domain, zone)}`,
  ],
  ['Full name', copyable(record.name, `the full name of the ${name} record`)],
  ['Value', html`${copyableBlock(record.value, `the value of the ${name} record`)}${quotedForm(record, name)}`],
])}
${foundPart({ kind, check, names })}
</section>`;
}

/** The heading has said it. */
function withoutName(purpose: string, name: string): string {
  const rest = purpose.startsWith(`${name}: `) ? purpose.slice(name.length + 2) : purpose;
  return `${rest[0]?.toUpperCase() ?? ''}${rest.slice(1)}`;
}

function hostNote({ name }: DnsRecordToPublish, domain: string, zone: string): Html {
  const inZone = html`<span class="hint">in the zone ${zone}; most providers add <code>.${zone}</code> automatically.</span>`;
  if (zone === domain) return html`<br>${inZone}`;
  return html`<br>${inZone} <span class="hint">If ${domain} is a separate zone: <code>${relativeHost(name, domain)}</code>.</span>`;
}

/** Few values are that long, and those that are do not fit into every form as they stand. */
function quotedForm({ value }: DnsRecordToPublish, name: string): Html | null {
  const strings = txtStrings(value);
  if (strings.length === 1) return null;
  return html`<details><summary>If your provider refuses it as too long</summary>
<p class="hint">DNS stores a TXT value in strings of at most 255 characters; this one has ${value.length}. Most providers split it automatically. If yours
doesn’t, enter this instead: ${strings.length} strings in one record, which receivers join.</p>
${copyableBlock(quotedTxt(value), `the value of the ${name} record as quoted strings`)}</details>`;
}

/** Taken over by the polling of the page, and so without what does not change. */
function foundPart({ kind, check, names }: Pick<RecordFacts, 'kind' | 'check' | 'names'>): Html {
  return html`<div class="found" id="found-${kind}" data-polled-with="status">
<p><strong>In DNS:</strong> ${checkBadge(check)} ${check?.message}</p>
${check && !check.ok && difference(check)}
${check && suggestion(check, names)}
</div>`;
}

function difference(check: DomainCheck): Html | null {
  const { expected, found } = check;
  if (found.length === 0) return null;
  const shown = found.slice(0, MOST_FOUND);
  const noticed = differences(check);
  return html`${facts([
    ['Expected', html`<code>${shortened(expected)}</code>`],
    ['Found', shown.map((text) => html`<code class="line">${shortened(text)}</code>`)],
  ])}
${found.length > shown.length && html`<p class="hint">and ${found.length - shown.length} more</p>`}
${noticed.length > 0 && html`<ul>${noticed.map((sentence) => html`<li>${sentence}</li>`)}</ul>`}`;
}

function suggestion(check: DomainCheck, names: ServiceNames): Html | null {
  const { record, ok, found, reason } = check;
  // Without an answer about what it includes, ours may be among it.
  if (record === 'spf' && !ok && reason !== 'dns_unavailable') {
    const merged = spfBeside(check, names.spfDomain);
    const change = reason === 'multiple_records' ? 'Replace your SPF records with' : 'Change your SPF record to';
    return merged === null
      ? null
      : html`<p>${change} this; there must be only one:</p>${copyableBlock(merged, 'the merged SPF record')}`;
  }
  if (record === 'dmarc' && ok) {
    const merged = mergedDmarc(found, names.dmarcReportAddress);
    return merged === null
      ? null
      : html`<p class="hint">Your policy stays as it is. To see its reports here as well, change the record to:</p>${copyableBlock(merged, 'the DMARC record with our address')}`;
  }
  return null;
}

function shortened(text: string): string {
  return text.length > MOST_FOUND_CHARS ? `${text.slice(0, MOST_FOUND_CHARS)}…` : text;
}
