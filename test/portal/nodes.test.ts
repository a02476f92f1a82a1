// The operator's page of the daemons that share a database: what it says of those that are not alive, and how they go.
import t from 'tap';
import { withDatabase } from '../support/database.ts';
import { startPortal } from '../support/portal.ts';

const NODES = '/portal/operator/nodes';

const world = await startPortal(t);
const operator = await world.visitor(await world.addUser('operator'));

/** As their daemons would, on a database of several. */
function note(node: string, seenAt: number, draining = 0): void {
  const insert = 'INSERT INTO nodes (node, version, started_at, seen_at, draining) VALUES (?, ?, 1, ?, ?)';
  withDatabase(world.postrider.databaseFile, (db) => db.prepare(insert).run(node, '1.0.0', seenAt, draining));
}

t.test('a daemon that is gone can be forgotten, one that lives can not', async (t) => {
  note('mail-1', Date.now() + 3_600_000);
  note('mail-2', Date.now() - 60_000);
  note('mail-3', 0);
  t.match((await operator.get('/portal/operator')).text, /gone for good: postrider nodes forget mail-2/);
  const page = await operator.get(NODES);
  const forms = page.forms.filter(({ action }) => action === `${NODES}/forget`);
  t.same(
    forms.map(({ fields }) => fields.get('node')),
    ['mail-2', 'mail-3'],
  );
  const alive = await operator.submit(page, forms[0]!, { node: 'mail-1' });
  t.match(alive.text, 'mail-1 is alive: stop it first.');
  t.match((await operator.submit(page, forms[0]!, { node: 'mail-9' })).text, 'There is no such daemon.');
  const after = await operator.submit(page, forms[0]!);
  t.match(after.text, 'mail-2 is forgotten.');
  t.notMatch(after.text, /mail-2 1\.0\.0/);
  t.match(after.text, /mail-1 1\.0\.0 alive.*mail-3 1\.0\.0 stopped/);
  t.match((await operator.get('/portal/operator/audit')).text, 'node forgotten');
});

t.test('one that was drained and stopped shows it, and can be resumed', async (t) => {
  note('mail-5', 0, 1);
  note('mail-6', Date.now() + 3_600_000, 1);
  const page = await operator.get(NODES);
  t.match(page.text, /mail-5 1\.0\.0 stopped, drained.*mail-6 1\.0\.0 drained/);
  const actions = (node: string) =>
    page.forms.filter(({ fields }) => fields.get('node') === node).map(({ action }) => action.split('/').at(-1));
  t.same(actions('mail-5'), ['resume', 'forget']);
  t.same(actions('mail-6'), ['resume']);
  const resume = page.forms.find(({ action, fields }) => action.endsWith('/resume') && fields.get('node') === 'mail-5');
  const after = await operator.submit(page, resume!);
  t.match(after.text, 'mail-5 is stopped. When it is back, it takes its share again.');
  t.match(after.text, /mail-5 1\.0\.0 stopped(?!,)/);
});
