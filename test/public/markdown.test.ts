// The renderer of the guide: what of Markdown it knows, that all the rest stays text, and that every page of the
// documentation comes out whole.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { renderMarkdown } from '../../src/public/markdown.ts';

const ROOT = path.join(import.meta.dirname, '../..');

function render(source: string, linkTarget: (written: string) => string | null = (written) => written): string {
  return renderMarkdown(source, linkTarget).body.text.trim();
}

t.test('what it knows', async (t) => {
  for (const [source, expected] of [
    ['One\ntwo', '<p>One\ntwo</p>'],
    ['# A `b` & c #', '<h1 id="a-b--c">A <code>b</code> &amp; c</h1>'],
    ['## Same\n## Same', '<h2 id="same">Same</h2>\n<h2 id="same-1">Same</h2>'],
    [
      '## Repeating safely: Idempotency-Key',
      '<h2 id="repeating-safely-idempotency-key">Repeating safely: Idempotency-Key</h2>',
    ],
    ['`a <b>` and `` c`d ``', '<p><code>a &lt;b&gt;</code> and <code>c`d</code></p>'],
    ['**bold** and *soft*, 2 * 3 * 4', '<p><strong>bold</strong> and <em>soft</em>, 2 * 3 * 4</p>'],
    ['snake_case_name', '<p>snake_case_name</p>'],
    ['[a `b` c](#d)', '<p><a href="#d">a <code>b</code> c</a></p>'],
    ['a \\* b', '<p>a * b</p>'],
    [
      '```bash\n# no heading\n\n<b>\n```\nafter',
      '<pre tabindex="0"><code># no heading\n\n&lt;b&gt;</code></pre>\n<p>after</p>',
    ],
    ['```\nnever ends', '<pre tabindex="0"><code>never ends</code></pre>'],
    ['- a\n  b\n- c', '<ul>\n<li>a\nb</li>\n<li>c</li>\n</ul>'],
    ['1. a\n2. b', '<ol start="1">\n<li>a</li>\n<li>b</li>\n</ol>'],
    ['- a\n\n  b\n\nc', '<ul>\n<li><p>a</p>\n<p>b</p>\n</li>\n</ul>\n<p>c</p>'],
    ['a\n<!-- not\nshown -->\nb', '<p>a</p>\n<p>b</p>'],
    ['', ''],
  ] as const) {
    t.equal(render(source), expected, source);
  }
});

t.test('tables', async (t) => {
  const table = render('| a | |\n| --- | --- |\n| `x \\| y` | [z](#z) |\n| 1 | 2 |\nafter');
  t.match(table, '<thead><tr><th scope="col">a</th><td></td></tr></thead>');
  t.match(table, '<tr><td><code>x | y</code></td><td><a href="#z">z</a></td></tr>\n<tr><td>1</td><td>2</td></tr>');
  t.match(table, /<\/div>\n<p>after<\/p>$/);
  t.match(render('| | |\n| --- | --- |\n| a | b |'), '<thead></thead>', 'a head without words is none');
  t.equal(render('| a | b |'), '<p>| a | b |</p>', 'one row alone is no table');
});

t.test('markup is text, and links go where they may', async (t) => {
  t.equal(render('<script>x</script> & "y"'), '<p>&lt;script&gt;x&lt;/script&gt; &amp; &quot;y&quot;</p>');
  t.equal(render('# <img onerror=x>'), '<h1 id="img-onerrorx">&lt;img onerror=x&gt;</h1>');
  t.equal(
    render('[x](file.md)', () => null),
    '<p>x</p>',
    'nowhere: the words alone',
  );
  t.equal(render('[x](a"b)'), '<p><a href="a&quot;b">x</a></p>');
});

t.test('every page of the documentation comes out whole', async (t) => {
  const files = globSync(['README.md', 'docs/*.md', 'clients/*/README.md'], { cwd: ROOT });
  for (const file of files) {
    const source = readFileSync(path.join(ROOT, file), 'utf8');
    const { title, headings, body } = renderMarkdown(source, (written) => written);
    t.not(title, '', file);
    const prose = body.text.replace(/<pre.*?<\/pre>/gs, '').replace(/<code>.*?<\/code>/gs, '');
    t.notMatch(prose, /`|\]\(|\*\*|^#|^\| /m, `${file}: nothing of the markup is left`);
    t.equal(new Set(headings.map(({ anchor }) => anchor)).size, headings.length, `${file}: anchors are unique`);
    const fences = source.match(/^ *```/gm)?.length ?? 0;
    t.equal(body.text.match(/<pre /g)?.length ?? 0, fences / 2, `${file}: every block of code`);
  }
});
