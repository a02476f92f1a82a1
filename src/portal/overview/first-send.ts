// The shortest program that sends a mail, in six languages, with the line that installs its library: the first
// code blocks of each client library's README, which the tests of the libraries run; and the same with curl.
import { readFileSync } from 'node:fs';

export interface Snippet {
  /** Of the folder of the library, or `curl`. */
  id: string;
  label: string;
  install: string | null;
  code: string;
}

export interface FirstSendFacts {
  baseUrl: string;
  /** A verified one; null when there is none yet. */
  domain: string | null;
  to: string;
}

const CLIENTS = new URL('../../../clients/', import.meta.url);

/** Folder, name, and what its blocks of code are marked with. */
const LANGUAGES = [
  ['node', 'Node.js', 'js'],
  ['python', 'Python', 'python'],
  ['go', 'Go', 'go'],
  ['java', 'Java', 'java'],
  ['php', 'PHP', 'php'],
  ['ruby', 'Ruby', 'ruby'],
] as const;

/** Reads files; call at the start. A library that is not there is left out. */
export function loadFirstSends(folder: URL = CLIENTS): Snippet[] {
  return LANGUAGES.flatMap(([id, label, mark]) => {
    const blocks = codeBlocks(readIfThere(new URL(`${id}/README.md`, folder)));
    const at = blocks.findIndex((block) => block.mark === mark);
    if (at < 0) return [];
    return [{ id, label, install: at > 0 ? blocks[0]!.code : null, code: blocks[at]!.code }];
  });
}

function readIfThere(file: URL): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** Between fences of backticks (CommonMark section 4.5). */
export function codeBlocks(markdown: string): { mark: string; code: string }[] {
  const blocks = markdown.replaceAll('\r\n', '\n').matchAll(/^(`{3,})[ \t]*([^`\n]*)\n([\s\S]*?)^\1`*[ \t]*$/gm);
  return [...blocks].map(([, , mark, code]) => ({ mark: mark!.trim(), code: code!.replace(/\n+$/, '') }));
}

// Who writes to whom in the programs of the libraries (clients/conformance/README.md).
const SENDER = 'shop@hello.verified.test';
const RECIPIENT = 'Jo <jo@example.org>';
/** Of other addresses some language might read more than an address. */
const PLAIN_ADDRESS = /^[\w.+-]+@[a-z0-9.-]+$/i;

/** From the tenant's own domain to the reader, so that the program works as it stands. */
export function personalized(snippet: Snippet, { domain, to }: FirstSendFacts): Snippet {
  let code = snippet.code.replaceAll(SENDER, senderOf(domain));
  if (PLAIN_ADDRESS.test(to)) code = code.replaceAll(RECIPIENT, to);
  return { ...snippet, code };
}

/** Before a domain is verified the name says itself that it is to be replaced. */
function senderOf(domain: string | null): string {
  return `hello@${domain ?? 'your-domain.example'}`;
}

export function curlSnippet({ baseUrl, domain, to }: FirstSendFacts): Snippet {
  const mail = {
    from: senderOf(domain),
    to,
    subject: 'Your order',
    text: 'Thank you!',
  };
  const code = [
    `curl -X POST ${shellWord(`${baseUrl.replace(/\/+$/, '')}/emails`)} \\`,
    `  -H "Authorization: Bearer $POSTRIDER_API_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shellWord(JSON.stringify(mail))}`,
  ];
  return { id: 'curl', label: 'curl', install: null, code: code.join('\n') };
}

/** As it is where a shell sees nothing in it, in single quotes otherwise. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
