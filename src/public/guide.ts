// /docs/guide: docs/api.md as a page, and what it leads to: docs/resend.md, docs/smtp.md and the READMEs of the client libraries.
// Rendered from the files when first asked for, so that there is one text for those who read the sources and for all
// others.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { html } from '../http/html.ts';
import type { Route } from '../http/router.ts';
import { staticPage } from '../http/static-page.ts';
import { DOCS_POLICY, docsPage, GUIDE_PATH, HTML_TYPE } from './api-reader.ts';
import { type Heading, renderMarkdown } from './markdown.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LANGUAGES = ['node', 'python', 'go', 'java', 'php', 'ruby'] as const;

/** Which file is shown where. */
const PAGES: ReadonlyMap<string, string> = new Map([
  ['docs/api.md', GUIDE_PATH],
  ['docs/resend.md', '/docs/resend'],
  ['docs/smtp.md', '/docs/smtp'],
  ...LANGUAGES.map((language): [string, string] => [`clients/${language}/README.md`, `/docs/clients/${language}`]),
]);
/** Headings below this level are not in the list of contents. */
const DEEPEST_CONTENTS = 3;

export function guidePages(style: Route): Route[] {
  return [...PAGES].map(([file, pattern]) => {
    const handler = staticPage({
      mediaType: HTML_TYPE,
      cache: 'no-cache',
      headers: DOCS_POLICY,
      load: async () => Buffer.from(pageOf(await readFile(path.join(ROOT, file), 'utf8'), { file, pattern, style })),
    });
    return { method: 'GET', pattern, handler };
  });
}

function pageOf(markdown: string, of: { file: string; pattern: string; style: Route }): string {
  const { title, headings, body } = renderMarkdown(markdown, (written) => targetOf(written, of.file));
  const content = html`<div class="guide">
${contents(headings)}
<main id="main" tabindex="-1">
${body}</main>
</div>`;
  return docsPage({ path: of.pattern, title, body: content, styles: [of.style] });
}

function contents(headings: readonly Heading[]) {
  const listed = headings.filter(({ level }) => level > 1 && level <= DEEPEST_CONTENTS);
  const links = listed.map(
    ({ level, anchor, content }) => html`<li class="level-${level}"><a href="#${anchor}">${content}</a></li>\n`,
  );
  return html`<nav class="contents" aria-label="On this page"><ul>
${links}</ul></nav>`;
}

/** Files that are not shown here lead nowhere: whoever reads this page may not have them. */
function targetOf(written: string, file: string): string | null {
  if (/^(?:https?:\/\/|mailto:|#)/.test(written)) return written;
  const [target = '', anchor] = written.split('#', 2);
  const pattern = PAGES.get(path.posix.join(path.posix.dirname(file), target));
  if (pattern === undefined) return null;
  return anchor === undefined ? pattern : `${pattern}#${anchor}`;
}
