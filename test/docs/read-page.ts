// Takes a page of the documentation apart: its bash snippets in their order, the markers that
// stand before them as HTML comments, and the output that the page promises after each.
// Knows as much Markdown as these pages use: fences and headings at the beginning of a line.

export interface Snippet {
  /** Of the opening fence, counted from 1. */
  line: number;
  code: string;
  marker: Marker | null;
  expected: Expected | null;
}

export interface Marker {
  /** `beforehand`: the test has done it already, in a way of its own; `repeated`: until the output is the expected one. */
  kind: 'not run' | 'beforehand' | 'repeated';
  reason: string;
}

export interface Expected {
  line: number;
  format: 'json' | 'text';
  text: string;
}

export interface Page {
  snippets: Snippet[];
  /** The texts of its toml blocks. */
  configurations: string[];
  /** The texts of its yaml blocks: the configuration of another program. */
  foreign: string[];
  /** What keeps the page from being tested, one sentence each. */
  problems: string[];
}

interface Block {
  line: number;
  language: string;
  text: string;
  marker: Marker | null;
  /** Counts the headings above it. */
  section: number;
}

const MARKER = /^<!-- (not run|beforehand|repeated): (\S.*) -->$/;

export function readPage(markdown: string): Page {
  const page: Page = { snippets: [], configurations: [], foreign: [], problems: [] };
  // The snippet whose output may still follow, and the section that it stands in.
  let open: { snippet: Snippet; section: number } | null = null;
  for (const { line, language, text, marker, section } of blocksOf(markdown)) {
    switch (language) {
      case 'bash': {
        const snippet: Snippet = { line, code: text, marker, expected: null };
        page.snippets.push(snippet);
        open = { snippet, section };
        break;
      }
      case 'json':
      case 'text':
        if (open?.section === section) open.snippet.expected = { line, format: language, text };
        else if (marker === null) page.problems.push(`line ${line}: this output belongs to no snippet of its section`);
        open = null;
        break;
      case 'toml':
        page.configurations.push(text);
        break;
      case 'yaml':
        page.foreign.push(text);
        break;
      case 'js': // for readers' own programs: test/webhooks/verify-snippet.test.ts and test/clients run them
      case 'python':
      case 'go':
      case 'java':
      case 'php':
      case 'ruby':
      case 'sql': // for a PostgreSQL: test/thorough/nodes/doctor.test.ts runs them
        break;
      default:
        page.problems.push(`line ${line}: a block is bash, json, text, toml, yaml or sql, not "${language}"`);
    }
  }
  page.problems.push(...page.snippets.flatMap(problemsOf));
  return page;
}

function problemsOf({ line, code, marker, expected }: Snippet): string[] {
  if (marker?.kind === 'not run') return [];
  if (marker !== null && expected === null) return [`line ${line}: "${marker.kind}" needs an expected output`];
  // curl is content with any status, so only the answer tells whether the call went well.
  const silent = /\bcurl\b/.test(code) && expected === null;
  return silent ? [`line ${line}: calls the API, and the page does not show the answer`] : [];
}

function* blocksOf(markdown: string): Generator<Block> {
  let section = 0;
  let above = '';
  let block: Block | null = null;
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^```(\w*)$/.exec(line);
    if (block !== null && fence) {
      yield block;
      block = null;
    } else if (block !== null) {
      block.text += `${line}\n`;
    } else if (fence) {
      const marker = MARKER.exec(above);
      const kind = marker?.[1] as Marker['kind'] | undefined;
      block = {
        line: index + 1,
        language: fence[1]!,
        text: '',
        marker: kind ? { kind, reason: marker![2]! } : null,
        section,
      };
    } else if (line.startsWith('#')) {
      section++;
    }
    if (line.trim() !== '') above = line;
  }
  if (block !== null) throw new Error(`line ${block.line}: the block has no end`);
}
