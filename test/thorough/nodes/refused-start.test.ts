// A daemon that may not start beside others takes nothing of theirs, and leaves no trace in the list of daemons.
import t from 'tap';
import { startNodes } from '../../support/nodes.ts';
import { postgresMissing } from '../../support/postgres-server.ts';

t.test('with another master key than the others', { skip: postgresMissing() }, async (t) => {
  const { nodes, install } = await startNodes(t, ['a']);
  const other = Buffer.alloc(32, 9).toString('base64');
  const refused = install('b', { secrets: { master_key: other } }).spawn();
  t.match(await refused.ended, { code: 1 });
  t.match(refused.output, /need the master key with the ID/);
  t.notMatch(refused.output, /slots taken/);
  t.match((await nodes[0]!.postrider.json('nodes', 'list')).nodes, [{ node: 'a', state: 'alive' }]);
});
