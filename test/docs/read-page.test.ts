// What a page must be like to be tested, on small pages.
import t from 'tap';
import { readPage } from './read-page.ts';

const page = (...lines: string[]) => readPage(lines.join('\n'));

t.test('a snippet, its marker and its output', async (t) => {
  const { snippets, problems } = page(
    '# One',
    '<!-- repeated: delivery takes a moment -->',
    '```bash',
    'curl a',
    'curl b',
    '```',
    'It says:',
    '```json',
    '{}',
    '```',
  );
  t.same(problems, []);
  t.same(snippets, [
    {
      line: 3,
      code: 'curl a\ncurl b\n',
      marker: { kind: 'repeated', reason: 'delivery takes a moment' },
      expected: { line: 8, format: 'json', text: '{}\n' },
    },
  ]);
});

t.test('what is neither run nor marked is a problem', async (t) => {
  const problems = (...lines: string[]) => page(...lines).problems;
  t.same(problems('```sh', 'ls', '```'), ['line 1: a block is bash, json, text, toml, yaml or sql, not "sh"']);
  t.same(problems('```bash', 'curl x', '```'), ['line 1: calls the API, and the page does not show the answer']);
  t.same(problems('<!-- not run: needs systemd -->', '```bash', 'curl x', '```'), []);
  t.same(problems('```bash', 'ls', '```', '# Next', '```text', 'x', '```'), [
    'line 5: this output belongs to no snippet of its section',
  ]);
  t.same(problems('<!-- repeated: slow -->', '```bash', 'ls', '```'), ['line 2: "repeated" needs an expected output']);
});

t.test('a marker without a reason is none', async (t) => {
  t.equal(page('<!-- not run: -->', '```bash', 'ls', '```').snippets[0]?.marker, null);
});
