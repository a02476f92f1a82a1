// Writes test/store/golden/postgres-schema.txt anew, after a migration was added:
// node test/store/postgres/update-golden.ts
import fs from 'node:fs';
import t from 'tap';
import { migrate } from '../../../src/store/postgres/engine/migrations.ts';
import { parseServerAddress } from '../../../src/store/postgres/engine/server-address.ts';
import { startPostgres } from '../../support/postgres-server.ts';
import { dumpSchema } from './schema-dump.ts';

t.test('write', async (t) => {
  const server = await startPostgres(t);
  const url = server.url(await server.createDatabase());
  await migrate(parseServerAddress(url));
  fs.writeFileSync(new URL('../golden/postgres-schema.txt', import.meta.url), await dumpSchema(url));
});
