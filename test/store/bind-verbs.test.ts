// The driver's work made into verbs, by the table of what each of them does.
import t from 'tap';
import { bindVerbs, type DriverVerbs, mergeVerbs, verbsByName } from '../../src/store/sql/bind-verbs.ts';
import { VERBS } from '../../src/store/verbs.ts';
import { VERB_NAMES } from '../support/wrap-verbs.ts';

t.test('every declared verb is bound once, with its name, its kind and its own work', async (t) => {
  const works = Object.entries(VERBS).map(([noun, kinds]) => {
    const names = Object.keys(kinds).map((name) => [name, () => `did ${noun}.${name}`]);
    return [noun, Object.fromEntries(names)];
  });
  const bound: string[] = [];
  const verbs = bindVerbs(Object.fromEntries(works) as DriverVerbs, ({ name, kind, work }) => {
    bound.push(name);
    return () => [kind, work()];
  });
  t.strictSame(bound.sort(), [...VERB_NAMES].sort());
  const byName = verbsByName(verbs);
  t.strictSame(byName.get('queue.claim')?.(), ['mail', 'did queue.claim']);
  t.strictSame(byName.get('queue.listQueue')?.(), ['slices', 'did queue.listQueue']);
  t.equal(byName.size, VERB_NAMES.length);
});

t.test('a name that two files of one noun have is refused, and none wins', async (t) => {
  const [one, other] = [() => 1, () => 2];
  t.strictSame(mergeVerbs({ one }, { other }), { one, other });
  t.throws(() => mergeVerbs({ one }, { other, one: other }), { message: 'the verb one is there twice' });
});
