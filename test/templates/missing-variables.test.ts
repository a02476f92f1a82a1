// Which variables of a template its data lacks.
import { Liquid } from 'liquidjs';
import t from 'tap';
import { MissingCollector } from '../../src/templates/missing-variables.ts';

const engine = new Liquid();

function missing(data: object, ...parts: string[]) {
  const collector = new MissingCollector();
  for (const part of parts) collector.add(part, engine.parse(part), data);
  return collector.list();
}

t.test('what is used, wherever it stands', async (t) => {
  const cases: [source: string, data: object, names: string[]][] = [
    ['{{ name }}{{ name }}{{ a.b.c }}{{ a.d }}', { a: { d: null } }, ['name', 'a.b.c']],
    ['{{ a | default: b }}{% if c %}{{ d }}{% endif %}{% case e %}{% when f %}{% endcase %}', {}, [...'abcdef']],
    ['{% assign x = y %}{{ x }}{% capture z %}{% endcapture %}{{ z }}{% increment n %}{{ n }}', {}, ['y']],
    ['{% for i in list %}{{ i.name }}{{ forloop.index }}{{ other }}{% endfor %}', { list: [] }, ['other']],
    [
      '{{ list[0].a }}{{ list[1].a }}{{ list[-1].a }}{{ list[5] }}',
      { list: [{ a: 1 }, {}] },
      ['list[1].a', 'list[-1].a', 'list[5]'],
    ],
    ['{% for a in list limit: lim offset: continue %}{% endfor %}', { list: [] }, ['lim']],
    ['{{ list.size }}{{ list.first.a }}{{ text.size }}{{ size }}', { list: [1], text: 'x' }, ['size']],
    ['{{ a[b].c }}{{ a["x y"] }}{{ ["z z"] }}', { a: {}, b: 1 }, ['a["x y"]', '["z z"]']],
    ['{{ none[a].c }}', { a: 1 }, ['none[…].c']],
    ['{{ text.name }}{{ none.name }}', { text: 'x', none: null }, ['text.name', 'none.name']],
    ['{{ constructor }}{{ __proto__ }}{{ a.toString }}', { a: {} }, ['constructor', '__proto__', 'a.toString']],
    ['{{ true }}{{ nil }}{{ "a" }}{{ 1 }}{% if a == empty %}{% endif %}{% raw %}{{ b }}{% endraw %}', { a: 1 }, []],
  ];
  for (const [source, data, names] of cases) t.same(missing(data, source), { names, total: names.length }, source);
});

t.test('of all parts, and at most twenty of them', async (t) => {
  t.same(missing({}, '{{ a }}{{ b }}', '{{ b }}{{ c }}'), { names: ['a', 'b', 'c'], total: 3 });
  const many = Array.from({ length: 1000 }, (_, at) => `{{ v${at} }}`).join('');
  t.match(missing({}, many), { names: Array.from({ length: 20 }, (_, at) => `v${at}`), total: 1000 });
  t.same(missing({}, `{{ ${'n'.repeat(500)} }}`).names, [`${'n'.repeat(60)}…`]);
});

t.test('a source that takes long to analyze is left out, a large one is not', async (t) => {
  t.same(missing({}, '{{ a }}'.repeat(5000), '{{ b }}').names, ['b']);
  t.same(missing({}, '{{ [" "] }}'.repeat(5000), '{{ b }}').names, ['b'], 'without a word in it, too');
  t.equal(missing({}, `${'x'.repeat(200_000)}${'{{ order.number | default: "none" }}'.repeat(100)}`).total, 1);
});

t.test('blocks that are nested as deeply as the parser allows', async (t) => {
  let source = '{{ b }}';
  let templates = engine.parse(source);
  for (let depth = 100; ; depth = Math.ceil(depth * 1.1)) {
    const deeper = `${'{% if a %}'.repeat(depth)}{{ b }}${'{% endif %}'.repeat(depth)}`;
    try {
      templates = engine.parse(deeper);
    } catch {
      break;
    }
    source = deeper;
  }
  const collector = new MissingCollector();
  t.doesNotThrow(() => collector.add(source, templates, {}), `${source.length} characters`);
});
