// The first programs of the libraries: found in their READMEs, made to fit the reader, shown without harm.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import {
  codeBlocks,
  curlSnippet,
  loadFirstSends,
  personalized,
  shellWord,
} from '../../../src/portal/overview/first-send.ts';
import { firstSendView } from '../../../src/portal/overview/first-send-view.ts';
import { testFolder } from '../../support/test-folder.ts';

const FACTS = { baseUrl: 'https://mail.acme.test/', domain: 'acme.test', to: 'ann@acme.test' };

t.test('every library of ours has one, and it fits its reader', async (t) => {
  const snippets = loadFirstSends();
  t.same(
    snippets.map(({ id }) => id),
    ['node', 'python', 'go', 'java', 'php', 'ruby'],
  );
  for (const snippet of snippets) {
    t.ok(snippet.install, `${snippet.label} says how to install it`);
    const { code } = personalized(snippet, FACTS);
    t.match(code, 'hello@acme.test');
    t.match(code, 'ann@acme.test');
    t.notMatch(code, /verified\.test|example\.org/);
    t.ok(code.split('\n').length <= 18, 'short');
    const unknown = personalized(snippet, { ...FACTS, domain: null, to: `"'"@x.test` }).code;
    t.match(unknown, 'hello@your-domain.example', 'to be replaced');
    t.match(unknown, 'Jo <jo@example.org>', 'or as it was');
  }
});

t.test('a library that is not there, or has no program, is left out', async (t) => {
  const folder = testFolder(t, {
    node: { 'README.md': '# x\n\n```js\nsend();\n```\n' },
    python: { 'README.md': 'nothing here' },
    go: { 'main.go': '' },
    ruby: {
      'README.md': '```bash\r\ngem install x\r\n```\r\n\r\n```ruby\r\nsend\r\n\r\n```\r\n```ruby\r\nother\r\n```',
    },
  });
  t.same(loadFirstSends(pathToFileURL(`${folder}${path.sep}`)), [
    { id: 'node', label: 'Node.js', install: null, code: 'send();' },
    { id: 'ruby', label: 'Ruby', install: 'gem install x', code: 'send' },
  ]);
  t.same(loadFirstSends(pathToFileURL(`${folder}/none/`)), []);
});

t.test('blocks of code', async (t) => {
  t.same(codeBlocks('```js\na\n```\ntext\n````md\n```x\n````\n``` \n```\n'), [
    { mark: 'js', code: 'a' },
    { mark: 'md', code: '```x' },
    { mark: '', code: '' },
  ]);
  t.same(codeBlocks('```js\nnever closed'), []);
});

t.test('the call by curl has the real address and domain, whatever a shell would see in them', async (t) => {
  const { code } = curlSnippet(FACTS);
  t.match(code, /^curl -X POST https:\/\/mail\.acme\.test\/emails \\$/m);
  t.match(code, '"from":"hello@acme.test","to":"ann@acme.test"');
  t.match(curlSnippet({ ...FACTS, domain: null }).code, 'hello@your-domain.example');
  t.match(curlSnippet({ ...FACTS, to: `o'x@a.test` }).code, `o'\\''x@a.test`);
  t.equal(shellWord('a b$(x)'), `'a b$(x)'`);
});

t.test('tabs need no script: one is chosen, and each has a label', async (t) => {
  const hostile = { id: 'node', label: 'Node.js', install: 'x', code: '</code><b onx="1">' };
  const { text } = firstSendView([hostile], FACTS);
  t.equal(text.match(/<input type="radio"/g)?.length, 2);
  t.equal(text.match(/ checked>/g)?.length, 1);
  t.match(text, '<label for="first-send-node">Node.js</label>');
  t.notMatch(text, '<b onx');
  t.match(text, 'export POSTRIDER_BASE_URL=https://mail.acme.test/');
});
