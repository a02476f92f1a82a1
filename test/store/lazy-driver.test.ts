// Whoever uses SQLite loads nothing of PostgreSQL: neither the daemon and its threads' entries, nor a command.
import { registerHooks } from 'node:module';
import path from 'node:path';
import t from 'tap';
import { testFolder } from '../support/test-folder.ts';

const loaded: string[] = [];
registerHooks({
  load(url, context, nextLoad) {
    loaded.push(url);
    return nextLoad(url, context);
  },
});
const ofPostgres = () => loaded.filter((url) => /\/node_modules\/pg[/-]|\/src\/store\/postgres\//.test(url));

t.test('only a store at an address of PostgreSQL loads its driver', async (t) => {
  await import('../../src/daemon/daemon.ts');
  await import('../../src/operator/own-store.ts');
  const { inspect, openCourierReads, openDaemonStore, openPortalReads, openStore } = await import(
    '../../src/store/opening/open-store.ts'
  );
  const { sqliteAt } = await import('../../src/store/address.ts');
  const address = sqliteAt(path.join(testFolder(t), 'postrider.db'));
  const fail = (error: unknown) => t.fail(String(error));
  const opened = [
    await openStore(address),
    await openDaemonStore(address, { onFailedCommit: fail, onBackgroundFault: fail, onLost: fail }),
    await openPortalReads(address, fail),
  ];
  const { contents, transportSecurity } = await openCourierReads(address);
  await inspect(address, (stored) => stored.tenants());
  contents.close();
  transportSecurity.close();
  for (const one of opened.reverse()) await one.close();
  t.ok(loaded.some((url) => url.includes('/src/store/sqlite/')));
  t.strictSame(ofPostgres(), []);
  await t.rejects(openStore({ driver: 'postgres', url: 'postgres://nobody' }), { message: /store\.url can't be used/ });
  t.ok(ofPostgres().length > 0, 'and then it is loaded');
});
