// docs/api.md is held to the registry of refusals: same codes, same status.
import fs from 'node:fs';
import t from 'tap';
import { REFUSALS } from '../../src/base/refusals.ts';

t.test('the table of errors has every code with its status, and no other', async (t) => {
  const text = fs.readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `([a-z_]+)` \| (\d{3}) \| \S/gm)];
  const documented = rows.map(([, code, status]) => [code, Number(status)]);
  const registered = Object.entries(REFUSALS).map(([code, { status }]) => [code, status]);
  t.same(documented.toSorted(), registered.toSorted());
});
