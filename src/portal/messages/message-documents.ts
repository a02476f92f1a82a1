// What a message consists of: its HTML for the frame, its source, and its attachments. All are the tenant's own and
// not to be trusted: the frame's policy lets nothing run, and nothing out.
import { downloadAs } from '../../http/content-disposition.ts';
import { html } from '../../http/html.ts';
import { heading } from '../elements.ts';
import { document, missing, type PageResult, type VisitOf, view } from '../page.ts';
import { MEASURED_SANDBOX, QUIET_HEADERS, quietMarkup } from '../quiet-markup.ts';
import type { MessageServices } from './message-services.ts';

const DOWNLOAD_POLICY = "sandbox; default-src 'none'";
const TOO_LARGE = 'The message is too large to show its source here.';
const GONE = 'Message not found, or its content has been erased.';

export async function showHtml({ reads }: MessageServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const outcome = await reads.messageHtml(visit.visitor.tenant.id, visit.params.id!);
  if (outcome.kind === 'refused') return plainText(outcome.reason);
  if (outcome.value === null) return plainText(GONE);
  const withImages = visit.query.get('images') === 'on';
  return document(quietMarkup(outcome.value), {
    ...QUIET_HEADERS,
    'Content-Security-Policy': framePolicy(withImages),
  });
}

function framePolicy(withImages: boolean): string {
  return [
    `sandbox ${MEASURED_SANDBOX}`,
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src data:${withImages ? ' https: http:' : ''}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
}

function plainText(text: string): PageResult {
  return document(text, { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Security-Policy': framePolicy(false) });
}

/** Composing is the main thread's work here, and takes about 1 ms for 10 KB. */
const MOST_COMPOSED_CHARS = 300_000;
const MOST_SHOWN_CHARS = 60_000;

export async function showSource(services: MessageServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const { tenant } = visit.visitor;
  const id = visit.params.id!;
  const outcome = await services.reads.messageContent(tenant.id, id, MOST_COMPOSED_CHARS);
  if (outcome.kind === 'refused') return sourceView(id, outcome.reason, null, 503);
  if (outcome.value === null) return missing(GONE);
  if (outcome.value === 'too_large') {
    return sourceView(id, `${TOO_LARGE} Its page shows HTML, text and attachments.`, null);
  }
  if (outcome.value === 'written_too_large') return sourceView(id, TOO_LARGE, null);
  const source = await services.sourceOf(outcome.value);
  if (visit.query.get('download') === 'on') {
    return document(source, {
      'Content-Type': 'message/rfc822',
      'Content-Disposition': `attachment; filename="${id}.eml"`,
      'Content-Security-Policy': DOWNLOAD_POLICY,
    });
  }
  return sourceView(id, null, { text: source.toString('utf8'), isWritten: outcome.value.written !== null });
}

interface Source {
  text: string;
  isWritten: boolean;
}

function sourceView(id: string, problem: string | null, source: Source | null, status = 200): PageResult {
  const title = 'Message source';
  const path = `/portal/messages/${id}`;
  const body = html`<p class="crumb"><a href="/portal/messages">Messages</a> / <a href="${path}">Message</a></p>
${heading(title, source !== null && html`<a class="button" href="${path}/source?download=on">Download</a>`)}
${problem !== null && html`<p class="notice warn">${problem}</p>`}${source !== null && sourceParts(source)}`;
  return view({ title, body, status });
}

function sourceParts({ text: source, isWritten }: Source) {
  const how = isWritten ? 'As it was handed in, below the headers that Postrider adds.' : 'Composed as for sending.';
  const tokens = isWritten ? 'the feedback headers' : 'links and in the feedback headers';
  const end = source.indexOf('\r\n\r\n');
  const [header, rest] = [source.slice(0, end), source.slice(end + 4)];
  const shown = rest.slice(0, MOST_SHOWN_CHARS);
  return html`<p class="hint">${how} Each attempt adds two new DKIM signatures at the top. The tokens in ${tokens} are placeholders, so that no one can act on the recipient’s behalf.</p>
<h2>Headers</h2><pre class="wrap" tabindex="0">${header.slice(0, MOST_SHOWN_CHARS)}</pre>
<h2>Body</h2><pre tabindex="0">${shown}</pre>${shown.length < rest.length && html`<p class="hint">The body is cut off here; the download has all of it.</p>`}`;
}

/** A call has at most 50. */
const POSITION = /^(?:0|[1-9]\d?)$/;

export async function showAttachment({ reads }: MessageServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const position = visit.params.position!;
  const gone = missing('Attachment not found, or the content of its message has been erased.');
  if (!POSITION.test(position)) return gone;
  const outcome = await reads.messageAttachment(visit.visitor.tenant.id, visit.params.id!, Number(position));
  if (outcome.kind === 'refused') {
    const body = html`${heading('Attachment')}<p class="notice warn">${outcome.reason}</p>`;
    return view({ title: 'Attachment', status: 503, body });
  }
  if (outcome.value === null) return gone;
  const { filename, content } = outcome.value;
  // Never the type that the call gave: a browser might show it, and it is not ours.
  return document(content, {
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': downloadAs(filename),
    'Content-Security-Policy': DOWNLOAD_POLICY,
  });
}
