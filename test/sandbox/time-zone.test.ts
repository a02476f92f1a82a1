// Times without a zone are in UTC, wherever the server is.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { newDataDir, spawnSandboxWith } from '../support/sandbox-process.ts';
import { until } from '../support/until.ts';

t.test('what a server in Tokyo reads and writes is in UTC', async (t) => {
  const sandbox = spawnSandboxWith(t, newDataDir(t), { TZ: 'Asia/Tokyo' }, '--json');
  const told = JSON.parse(await sandbox.ready());
  const call = async (where: string, body: unknown) => {
    const headers = { authorization: `Bearer ${told.api_key}`, 'content-type': 'application/json' };
    const answer = await fetch(told.url + where, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as { id: string };
  };

  const times = ['2026-11-29', '2026-11-29 20:00', '2026-11-29T20:00', 'Nov 29, 2026', '2026-11-29T20:00:00+02:00'];
  const text =
    '{% for at in times %}{{ at | date: "%d %b %H:%M %z" }}, {{ at | date: "%H", "Europe/Berlin" }}\n{% endfor %}';
  const template = await call('/templates', { name: 'Dates', text });
  const mail = { from: `a@${told.domain}`, to: 'b@example.org', subject: 'Dates' };
  await call('/emails', { ...mail, template_id: template.id, data: { times } });
  const captured = () => readdirSync(told.captured_dir).find((name) => name.endsWith('.eml'));
  const raw = readFileSync(path.join(told.captured_dir, await until('the mail is kept', captured)), 'utf8');
  t.same(raw.match(/^\d\d Nov .*$/gm), [
    '29 Nov 00:00 +0000, 01',
    '29 Nov 20:00 +0000, 21',
    '29 Nov 20:00 +0000, 21',
    '29 Nov 00:00 +0000, 01',
    '29 Nov 18:00 +0000, 19',
  ]);

  await call('/suppressions/import', { csv: 'email,created_at\nkim@example.com,2026-01-20 10:00:00\n' });
  const listed = await fetch(`${told.url}/suppressions`, { headers: { authorization: `Bearer ${told.api_key}` } });
  t.match(await listed.json(), { suppressions: [{ created_at: '2026-01-20T10:00:00.000Z' }] });
  t.equal(await sandbox.interrupt(), 0, sandbox.complained);
});
