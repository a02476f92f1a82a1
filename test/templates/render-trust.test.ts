// Who is known to render quickly.
import t from 'tap';
import { RenderTrust } from '../../src/templates/render-trust.ts';

t.test('trust is earned by a quick job, and lost by slow ones', async (t) => {
  const standing = new RenderTrust({ now: () => 0 });
  t.equal(standing.isTrusted('a'), false, 'unknown');
  standing.note('a', 3);
  t.equal(standing.isTrusted('a'), true);
  t.equal(standing.isTrusted('b'), false, 'each for itself');
  standing.note('a', 500);
  t.equal(standing.isTrusted('a'), true, 'one may be the fault of the machine');
  standing.note('a', 500);
  t.equal(standing.isTrusted('a'), false);
  for (let count = 0; count < 10; count++) standing.note('a', 3);
  t.equal(standing.isTrusted('a'), false, 'quick ones in between buy nothing');
  standing.note('b', 3000);
  standing.note('b', 3);
  t.equal(standing.isTrusted('b'), false, 'a first job that is slow earns nothing');
});

t.test('a debt wears off, within a minute at most', async (t) => {
  let now = 1e9;
  const standing = new RenderTrust({ now: () => now });
  for (let count = 0; count < 20; count++) standing.note('a', 3000);
  now += 59_000;
  t.equal(standing.isTrusted('a'), false);
  now += 1001;
  t.equal(standing.isTrusted('a'), true);
  standing.note('a', 3000);
  now = 0;
  standing.note('a', 3);
  now = 60_001;
  t.equal(standing.isTrusted('a'), true, 'a clock that is set back makes it no longer');
});

t.test('memory is bounded: who has not rendered for longest is unknown again', async (t) => {
  const standing = new RenderTrust({ now: () => 0 });
  for (let tenant = 0; tenant <= 10_000; tenant++) standing.note(String(tenant), 1);
  t.equal(standing.isTrusted('0'), false);
  t.equal(standing.isTrusted('1'), true);
  t.equal(standing.isTrusted('10000'), true);
});
