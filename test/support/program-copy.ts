// Another version of the program: a copy of this checkout's sources with a version number and migrations of its own. It
// needs no history of the checkout, and shares its packages.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));
const COPIED = ['bin', 'config', 'schema', 'scripts/source-cache.cjs', 'src'];
const SHARED = ['clients', 'docs', 'node_modules'];

export interface OtherVersion {
  version: string;
  /** Migrations of PostgreSQL on top of this version's: names, and SQL. */
  migrations?: Record<string, string>;
}

/** In a folder that does not exist yet. */
export function copyProgram(root: string, { version, migrations = {} }: OtherVersion): string {
  fs.mkdirSync(path.join(root, 'scripts'), { recursive: true });
  for (const name of COPIED) fs.cpSync(path.join(CHECKOUT, name), path.join(root, name), { recursive: true });
  for (const name of SHARED) fs.symlinkSync(path.join(CHECKOUT, name), path.join(root, name));
  const description = JSON.parse(fs.readFileSync(path.join(CHECKOUT, 'package.json'), 'utf8')) as object;
  fs.writeFileSync(path.join(root, 'package.json'), JSON.stringify({ ...description, version }));
  for (const [name, sql] of Object.entries(migrations)) {
    fs.writeFileSync(path.join(root, 'schema/postgres', name), sql);
  }
  return root;
}
