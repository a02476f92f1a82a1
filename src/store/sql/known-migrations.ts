// The numbered migrations of a database: the files NNNN-name.sql of its folder, in order.
import fs from 'node:fs';

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

export function migrationsIn(folder: URL): Migration[] {
  return fs
    .readdirSync(folder)
    .filter((name) => /^\d{4}-[a-z0-9-]+\.sql$/.test(name))
    .sort()
    .map((name) => ({
      version: Number(name.slice(0, 4)),
      name,
      sql: fs.readFileSync(new URL(name, folder), 'utf8'),
    }));
}
