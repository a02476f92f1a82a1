// What is wrong with a template or its sample data: the place, and the lines around it.
import t from 'tap';
import { dataFault, faultView, placeAt, wherePlace } from '../../../src/portal/templates/faults.ts';

t.test('sample data is a JSON object, or it is said where it is none', async (t) => {
  for (const fine of ['', ' \n', '{}', ' {"a": [1, {"b": null}]}\n']) t.equal(dataFault(fine), null, fine);
  const places: [string, number, number, RegExp][] = [
    ['{', 1, 2, /is incomplete/],
    ['{"a": 1,}', 1, 9, /“}” is unexpected here/],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, /“"” is unexpected here/],
    ['{"a": tru}', 1, 7, /“t” is unexpected here/],
    ["{'a': 1}", 1, 2, /“'” is unexpected here/],
    ['{} x', 1, 4, /“x” is unexpected here/],
    ['[1]', 1, 1, /must be a JSON object/],
    ['"text"', 1, 1, /must be a JSON object/],
  ];
  for (const [json, line, column, problem] of places) {
    t.match(dataFault(json), { part: 'data', problem, place: { line, column } }, json);
  }
});

t.test('places are counted from one', async (t) => {
  t.same(placeAt('ab\ncd', 0), { line: 1, column: 1 });
  t.same(placeAt('ab\ncd', 3), { line: 2, column: 1 });
  t.same(placeAt('ab\ncd', 5), { line: 2, column: 3 });
  t.equal(wherePlace({ part: 'html', place: { line: 2, column: 3 } }), 'HTML, line 2, column 3');
  t.equal(wherePlace({ part: 'text', place: null }), 'Text');
});

t.test('the line is shown between its neighbours, with the place marked, and never as markup', async (t) => {
  const source = 'one\n<b>two\n{% if 🎉 %}<script>\nfour\nfive\nsix';
  const { text } = faultView({ part: 'html', problem: 'tag <x> is wrong', place: { line: 3, column: 7 } }, source);
  t.match(text, 'HTML, line 3, column 7:');
  t.match(text, 'tag &lt;x&gt; is wrong.');
  t.match(text, '<span class="row faulty"><span class="line-number">3</span>{% if <mark>🎉</mark> %}&lt;script&gt;');
  for (const shown of ['one', '&lt;b&gt;two', 'four', 'five']) t.match(text, shown);
  t.notMatch(text, 'six');
  t.notMatch(text, /<script|<b>/);
});

t.test('long lines are cut around the place, and places outside of the source do no harm', async (t) => {
  const line = `${'a'.repeat(500_000)}X${'b'.repeat(500_000)}`;
  const { text } = faultView({ part: 'html', problem: 'x', place: { line: 1, column: 500_001 } }, line);
  t.match(text, /…a{60}<mark>X<\/mark>b{120}…/);
  t.ok(text.length < 1000);
  const end = faultView({ part: 'data', problem: 'x', place: { line: 1, column: 3 } }, '{ ').text;
  t.match(end, '{ <mark> </mark>');
  t.type(faultView({ part: 'text', problem: 'x', place: { line: 99, column: 99 } }, 'a').text, 'string');
  t.notMatch(faultView({ part: 'text', problem: 'x', place: null }, 'a').text, '<pre');
});
