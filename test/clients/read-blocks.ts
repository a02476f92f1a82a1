// The code blocks of one language in a page of Markdown, with the comment above each and the
// output that is shown after it.

export interface CodeBlock {
  /** Of the opening fence, counted from 1. */
  line: number;
  code: string;
  /** The text of an HTML comment above it, or ''. */
  marker: string;
  /** Of a `text` block that follows before the next heading. */
  expected: string | null;
}

export function readBlocks(markdown: string, fence: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { language: string; text: string; line: number; marker: string } | null = null;
  let above = '';
  let answered = true;
  for (const [index, line] of markdown.split('\n').entries()) {
    const start = /^```(\w*)$/.exec(line);
    if (open !== null && start) {
      if (open.language === fence) {
        blocks.push({ line: open.line, code: open.text, marker: open.marker, expected: null });
        answered = false;
      } else if (open.language === 'text' && !answered) {
        blocks.at(-1)!.expected = open.text;
        answered = true;
      }
      open = null;
    } else if (open !== null) {
      open.text += `${line}\n`;
    } else if (start) {
      open = { language: start[1]!, text: '', line: index + 1, marker: /^<!-- (.+) -->$/.exec(above)?.[1] ?? '' };
    } else if (line.startsWith('#')) {
      answered = true;
    }
    if (line.trim() !== '') above = line;
  }
  return blocks;
}
