// Databases as the first start leaves them. Migrations run once in each process: a test file opens hundreds of stores.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';

let made: Promise<Buffer> | null = null;

export async function newDatabase(file: string): Promise<void> {
  made ??= make();
  fs.writeFileSync(file, await made, { flag: 'wx', mode: 0o600 });
}

async function make(): Promise<Buffer> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-template-'));
  const file = path.join(folder, 'postrider.db');
  await (await openSqliteStore({ file })).close();
  const bytes = fs.readFileSync(file);
  fs.rmSync(folder, { recursive: true });
  return bytes;
}
