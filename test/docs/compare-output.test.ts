// What the pages' output is compared by: the conventions that docs/development.md tells.
import t from 'tap';
import { compareOutput } from './compare-output.ts';
import { Examples } from './examples.ts';

const [ID_A, ID_B] = ['019a9b6e-0c52-7b1e-8f0e-6d5a3e2f1c00', '019a9b6e-0c52-7b1f-9a41-2f6c0d7e8b11'];
const [REAL_A, REAL_B] = ['01a1faa5-168a-7000-be70-39e2ddc0a663', '01a1faa5-168a-7001-8174-cccf483350bf'];

const json = (text: string) => ({ line: 1, format: 'json', text }) as const;
const text = (text: string) => ({ line: 1, format: 'text', text }) as const;

t.test('JSON is compared by its values', async (t) => {
  const equal = (shown: string, real: string) => t.equal(compareOutput(json(shown), real, new Examples()), null, shown);
  const different = (shown: string, real: string, problem: string) =>
    t.equal(compareOutput(json(shown), real, new Examples()), problem, shown);

  equal('{ "a": [1, "x"], "b": null }', '{"b":null,"a":[1,"x"]}');
  equal('{ "a": …, "b": "x…z" }', '{"a":{"deep":true},"b":"xyz"}');
  equal('{ "a": "x", … }', '{"a":"x","b":1}');
  equal('{ "a": [1, …], "b": [{ "c": 1, … }, …, 4] }', '{"a":[1,2,3],"b":[{"c":1,"d":2},2,3,4]}');
  equal('{ "text": "an … inside" }', '{"text":"an ellipsis inside"}');
  different('{ "a": 1 }', '{"a":2}', 'the answer.a is 2, not 1');
  different('{ "a": 1 }', '{"a":"1"}', 'the answer.a is "1", not 1');
  different('{ "a": "x" }', '{"a":"xy"}', 'the answer.a is "xy", not "x"');
  different('{ "a": 1 }', '{"a":1,"b":2}', 'the answer also has b');
  different('{ "a": 1, "b": … }', '{"a":1}', 'the answer has no b');
  different('{ "a": [1, …, 4] }', '{"a":[1,2]}', 'the answer.a[1] is 2, not 4');
  different('{ "a": [1] }', '{"a":[1,2]}', 'the answer.a has 2 elements, not 1');
  different('{ "a": {} }', '{"a":[]}', 'the answer.a is [], not {}');
  different('{}', 'HTTP/1.1 200 OK', 'is no JSON');
});

t.test('text is compared as it stands', async (t) => {
  const fits = (shown: string, real: string) => compareOutput(text(shown), real, new Examples()) === null;
  t.ok(fits('HTTP/1.1 200 OK\n…\n', 'HTTP/1.1 200 OK\r\nDate: today\r\n\r\n{}'));
  t.ok(fits('a (b) [c]', 'a (b) [c]\n'));
  t.ok(fits('at 2026-11-20T09:14:03.210Z', 'at 2030-01-02T03:04:05.678Z'));
  t.notOk(fits('at 2026-11-20T09:14:03.210Z', 'at noon'));
  t.notOk(fits('a.b', 'axb'));
  t.notOk(fits('a', 'a\nb'));
});

t.test('an id stands for one certain other', async (t) => {
  const examples = new Examples();
  t.equal(compareOutput(json(`["${ID_A}"]`), `["${REAL_A}"]`, examples), null);
  t.equal(examples.fill(`get ${ID_A} ${ID_B}`), `get ${REAL_A} ${ID_B}`);
  t.not(compareOutput(json(`["${ID_A}"]`), `["${REAL_B}"]`, examples), null, 'it is not another one later');
  t.not(compareOutput(json(`["${ID_B}"]`), `["${REAL_A}"]`, examples), null, 'and two are not the same one');
  t.equal(compareOutput(text(`<${ID_B}@x> ${ID_A}`), `<${REAL_B}@x> ${REAL_A}`, examples), null, 'inside a text');
  t.not(compareOutput(json('["019a9b6e-0c52-7b1e-8f0e-6d5a3e2f1c01"]'), '["none"]', examples), null);
});

t.test('so does a key, and its public part', async (t) => {
  const examples = new Examples();
  t.equal(compareOutput(text('key pr_Shown_Secret'), 'key pr_Real_Hidden', examples), null);
  t.equal(examples.fill('pr_Shown_Secret, pr_Shown'), 'pr_Real_Hidden, pr_Real');
});
