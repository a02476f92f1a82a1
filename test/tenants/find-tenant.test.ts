// A tenant as a person names it: by name, ID or the beginning of the ID; never a guess.
import t from 'tap';
import { findTenant, type NamedTenant } from '../../src/tenants/find-tenant.ts';

const A = '019a9b70-4d10-7000-8b1e-5a2f7c9d3e10';
const B = '019a9b70-5e21-7000-9c2f-6b308d0e4f21';
const C = '019a9c11-0000-7000-9c2f-6b308d0e4f21';

const tenants: NamedTenant[] = [
  { id: A, name: 'Example', status: 'active' },
  { id: B, name: 'Acme & Co', status: 'active' },
  { id: C, name: 'Acme & Co', status: 'suspended' },
];

t.test('one tenant is found by all its names', async (t) => {
  for (const given of [A, A.toUpperCase(), '019a9b70-4', 'Example', ' Example ', '019A9B70-4D']) {
    t.same(findTenant(given, tenants), { kind: 'found', id: A }, given);
  }
  t.same(findTenant(C, tenants), { kind: 'found', id: C });
  t.same(findTenant('019a9c', tenants), { kind: 'found', id: C });
});

t.test('several are listed, and none is taken', async (t) => {
  const both = findTenant('Acme & Co', tenants);
  const message = `"Acme & Co" stands for 2 tenants: ${B} (Acme & Co, active), ${C} (Acme & Co, suspended). Give the ID`;
  t.same(both, { kind: 'refused', field: null, message });
  t.match(findTenant('019a9b70', tenants), { message: /stands for 2 tenants/ });
  const many = Array.from({ length: 9 }, (_, n) => ({
    id: `${A.slice(0, -1)}${n}`,
    name: 'N',
    status: 'active' as const,
  }));
  t.match(findTenant('N', many), {
    message: /stands for 9 tenants: (?:\S+ \(N, active\), ){4}\S+ \(N, active\), and 4 more\. /,
  });
});

t.test('nobody takes the place of another by a name that looks like the ID', async (t) => {
  const thief = { id: B, name: '019a9b70-4d', status: 'active' as const };
  t.match(findTenant('019a9b70-4d', [tenants[0]!, thief]), { message: /stands for 2 tenants/ });
  const bold = { ...thief, name: A };
  t.same(findTenant(A, [tenants[0]!, bold]), { kind: 'found', id: A });
  t.match(findTenant(A, [bold]), { kind: 'refused', message: `there is no tenant ${A}` });
});

t.test('what names no tenant is said, with a hint', async (t) => {
  t.match(findTenant('Exmaple', tenants), { message: 'there is no tenant "Exmaple": did you mean "Example"?' });
  t.match(findTenant('Zebra', tenants), {
    message: 'there is no tenant "Zebra": postrider tenant list shows names and IDs',
  });
  t.match(findTenant('019', tenants), { kind: 'refused' }, 'too short: a typo would find one');
  t.match(findTenant('example', tenants), { kind: 'refused' }, 'names are taken as they are written');
  t.match(findTenant('', tenants), { kind: 'refused' });
});
