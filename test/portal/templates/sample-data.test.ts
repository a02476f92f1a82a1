// Sample data made up for a template: what its output uses, and nothing that could do harm.
import t from 'tap';
import { sampleData } from '../../../src/portal/templates/sample-data.ts';
import { ProcessorTime } from '../../support/patience.ts';

const of = (...sources: (string | null)[]) => JSON.parse(sampleData(...sources));

t.test('names, paths, and what loops go over', async (t) => {
  t.same(of('Hi {{ name }}, {{- user.first_name | upcase }} {{user.age}}'), {
    name: 'name',
    user: { first_name: 'first name', age: 'age' },
  });
  t.same(of('{% for item in order.items %}{{ item.title }}{{ item.price.net }}{{ forloop.index }}{% endfor %}'), {
    order: { items: [{ title: 'title', price: { net: 'net' } }] },
  });
  t.same(of('{%- for tag in tags -%}{{ tag }}{% endfor %}'), { tags: [{}] });
  t.same(of('{{ a }}', null, '{{ b }}'), { a: 'a', b: 'b' });
  t.same(of(null), {});
});

t.test('what the template makes itself is not asked for, and what does not fit is left', async (t) => {
  t.same(of('{% assign x = 1 %}{% capture y %}{% endcapture %}{{ x }}{{ y }}{{ z }}'), { z: 'z' });
  t.same(of('{{ a }}{{ a.b }}'), { a: 'a' });
  t.same(of('{{ a.b }}{{ a }}'), { a: { b: 'b' } });
  t.same(of('{{ "text" }}{{ 5 }}{{ true }}{{ }}{{'), {});
  t.same(of('{{ __proto__.x }}{{ a.constructor.b }}{% for p in prototype %}{{ p.x }}{% endfor %}'), {});
  t.equal(({} as Record<string, unknown>).x, undefined);
});

t.test('a hostile source costs little', async (t) => {
  const time = new ProcessorTime();
  for (const piece of ['{{ a.a.a.a', '{% for a in a.', '{{', '{% assign ', `{{ ${'a.'.repeat(5000)}`]) {
    const json = sampleData(piece.repeat(Math.ceil(1_000_000 / piece.length)));
    t.ok(json.length < 100_000, piece.slice(0, 12));
  }
  const nested = Array.from({ length: 300 }, (_, n) => `{% for a${n + 1} in a${n}.b.c.d.e %}`).join('');
  t.equal(sampleData(`{% for a0 in x %}${nested}`), '{}');
  t.ok(time.usedMs < 3000, `${time.usedMs} ms of processor time`);
});
