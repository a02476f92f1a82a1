// docs/api.md is held to the registries of refusals and events: same codes, same status; same types, same families.
import fs from 'node:fs';
import t from 'tap';
import { REFUSALS } from '../../src/base/refusals.ts';
import { EVENT_TYPES } from '../../src/events/event-types.ts';

const PAGE = fs.readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');

t.test('the table of errors has every code with its status, and no other', async (t) => {
  const rows = [...PAGE.matchAll(/^\| `([a-z_]+)` \| (\d{3}) \| \S/gm)];
  const documented = rows.map(([, code, status]) => [code, Number(status)]);
  const registered = Object.entries(REFUSALS).map(([code, { status }]) => [code, status]);
  t.same(documented.toSorted(), registered.toSorted());
});

t.test('the table of events has every type with its family, and no other', async (t) => {
  const documented = [...PAGE.matchAll(/^\| `(email\.[a-z]+)` \| `([a-z]+)` \| \S/gm)].map(([, ...row]) => row);
  const registered = Object.entries(EVENT_TYPES).map(([type, { family }]) => [type, family]);
  t.same(documented.toSorted(), registered.toSorted());
});
