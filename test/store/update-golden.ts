// Writes test/store/golden/schema.sql anew, after a migration was added:
// node test/store/update-golden.ts
import fs from 'node:fs';
import Database from 'better-sqlite3';
import { migrate } from '../../src/store/sqlite/engine/migrations.ts';
import { dumpSchema } from './schema-dump.ts';

const db = new Database(':memory:');
migrate(db);
fs.writeFileSync(new URL('./golden/schema.sql', import.meta.url), dumpSchema(db));
db.close();
