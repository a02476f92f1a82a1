// The three pages of one mail that came from elsewhere: as a mail client shows it, its HTML alone (for the
// frame, where nothing of it can run or be loaded), and the mail as it came, for download.
import { type Html, type HtmlPart, html } from '../../http/html.ts';
import { bytesText, emptyState, facts, heading, table } from '../elements.ts';
import {
  type Access,
  document,
  missing,
  type PageResult,
  type PortalRoute,
  page,
  type VisitOf,
  view,
} from '../page.ts';
import { QUIET_HEADERS, quietMarkup } from '../quiet-markup.ts';
import type { MailReader } from './mail-reader.ts';
import type { MailReading, ShownMail } from './shown-mail.ts';

/** A mail with what is known of it beside its own words. */
export interface OpenedMail {
  id: string;
  /** Null: it has been erased, or was never kept. */
  raw: Buffer | null;
  /** Why there is no content, where retention has not erased it. */
  notKept?: { title: string; reason: string };
  /** Of the envelope, and of what became of it. */
  known: readonly (readonly [string, HtmlPart])[];
  below?: HtmlPart;
}

export interface MailPagesOptions<A extends Access> {
  /** Where the list of such mails is. */
  listPath: string;
  listName: string;
  access: A;
  reader: MailReader;
  open(visit: VisitOf<A>): Promise<OpenedMail | null>;
}

/** Not even pictures from elsewhere: who sent the mail would learn that it is read, and from where. */
const FRAME_POLICY = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'";
const DOWNLOAD_POLICY = "sandbox; default-src 'none'";
const SOURCE_CHARS = 60_000;
const NOT_THERE = 'Mail not found. It may have been erased.';

export function mailPages<A extends Access>(options: MailPagesOptions<A>): PortalRoute[] {
  const { listPath, access, open, reader } = options;
  return [
    page({ path: `${listPath}/:id`, access, show: (visit) => showMail(options, visit) }),
    page({
      path: `${listPath}/:id/html`,
      access,
      async show(visit) {
        const mail = await open(visit);
        if (!mail?.raw) return missing(NOT_THERE);
        const reading = await reader.read(mail.raw);
        const markup = reading.kind === 'read' ? reading.mail.html : null;
        if (markup === null) return missing('This mail has no HTML part to show.');
        return document(quietMarkup(markup), { ...QUIET_HEADERS, 'Content-Security-Policy': FRAME_POLICY });
      },
    }),
    page({
      path: `${listPath}/:id/raw`,
      access,
      async show(visit) {
        const mail = await open(visit);
        if (!mail?.raw) return missing(NOT_THERE);
        return document(mail.raw, {
          'Content-Type': 'message/rfc822',
          'Content-Disposition': `attachment; filename="${mail.id}.eml"`,
          'Content-Security-Policy': DOWNLOAD_POLICY,
        });
      },
    }),
  ];
}

const ERASED = {
  title: 'Erased mail',
  reason: 'Content is kept for retention.content_days days; the record of the mail is kept longer.',
};

type Part = 'text' | 'html' | 'headers' | 'source';

async function showMail<A extends Access>(options: MailPagesOptions<A>, visit: VisitOf<A>): Promise<PageResult> {
  const mail = await options.open(visit);
  if (!mail) return missing(NOT_THERE);
  const crumb = html`<p class="crumb"><a href="${options.listPath}">${options.listName}</a></p>`;
  if (!mail.raw) {
    const { title, reason } = mail.notKept ?? ERASED;
    const body = html`${crumb}${heading(title)}${facts(mail.known)}${emptyState('Content not available', reason)}${mail.below}`;
    return view({ title, body });
  }
  const reading = await options.reader.read(mail.raw);
  const path = `${options.listPath}/${mail.id}`;
  const title = reading.kind === 'read' ? reading.mail.subject || '(no subject)' : 'Unreadable mail';
  const part = chosenPart(visit.query.get('part'), reading);
  const body = html`${crumb}${heading(title, html`<a class="button" href="${path}/raw">Download</a>`)}
${facts([...(reading.kind === 'read' ? ownWords(reading.mail) : []), ...mail.known])}
${partsNavigation(path, part, reading)}
${partOf(part, reading, { path, raw: mail.raw })}${mail.below}`;
  return view({ title, body });
}

function chosenPart(wished: string | null, reading: MailReading): Part {
  const there = partsOf(reading);
  return there.find((part) => part === wished) ?? there[0]!;
}

/** The best first. */
function partsOf(reading: MailReading): Part[] {
  if (reading.kind === 'unreadable') return ['source'];
  const { html: markup, text } = reading.mail;
  return [
    ...(markup === null ? [] : (['html'] as const)),
    ...(text === null ? [] : (['text'] as const)),
    'headers',
    'source',
  ];
}

function ownWords({ from, to, cc, date }: ShownMail): [string, HtmlPart][] {
  const pairs: [string, string][] = [
    ['From', from],
    ['To', to],
    ['Cc', cc],
    ['Date', date],
  ];
  return pairs
    .filter(([name, value]) => value !== '' || name === 'From')
    .map(([name, value]) => [name, value || '(none)']);
}

const PART_NAMES: Readonly<Record<Part, string>> = {
  html: 'HTML',
  text: 'Text',
  headers: 'Headers',
  source: 'Message source',
};

function partsNavigation(path: string, current: Part, reading: MailReading): Html {
  const links = partsOf(reading).map(
    (part) =>
      html`<li><a href="${path}?part=${part}"${part === current && html` aria-current="page"`}>${PART_NAMES[part]}</a></li>`,
  );
  return html`<nav class="parts" aria-label="Parts of the mail"><ul>${links}</ul></nav>`;
}

function partOf(part: Part, reading: MailReading, { path, raw }: { path: string; raw: Buffer }): Html {
  if (reading.kind === 'unreadable') {
    return html`<p class="notice warn">The mail couldn’t be parsed: ${reading.reason}. This is its source.</p>${source(raw)}`;
  }
  const { mail } = reading;
  const cuts = mail.cuts.map((cut) => html`<p class="notice info">${cut}</p>`);
  switch (part) {
    case 'html':
      return html`${cuts}<iframe class="preview" sandbox="" src="${path}/html" referrerpolicy="no-referrer" title="The mail's HTML"></iframe>
<p class="quiet">Scripts, forms and remote images are not shown.</p>${attachments(mail)}`;
    case 'text':
      return html`${cuts}<pre class="wrap" tabindex="0">${mail.text}</pre>${attachments(mail)}`;
    case 'headers':
      return html`${cuts}${table({ caption: 'Header fields', heads: ['Field', 'Value'] }, mail.headers)}`;
    case 'source':
      return source(raw);
  }
}

function attachments({ attachments: all }: ShownMail): Html | null {
  if (all.length === 0) return null;
  const rows = all.map(({ name, type, octets }) => [name || '(no name)', type, bytesText(octets)]);
  return html`<h2>Attachments</h2><p class="quiet">Download the mail to get its attachments. Don’t open any that you don’t expect.</p>
${table({ caption: 'Attachments', heads: ['Name', 'Type', 'Size'] }, rows)}`;
}

function source(raw: Buffer): Html {
  const text = raw.subarray(0, SOURCE_CHARS).toString('utf8');
  const cut =
    raw.length > SOURCE_CHARS &&
    html`<p class="notice info">These are the first ${SOURCE_CHARS} of ${raw.length} bytes; the download has all of them.</p>`;
  return html`${cut}<pre class="wrap" tabindex="0">${text}</pre>`;
}
