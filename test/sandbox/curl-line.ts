// The line that the sandbox prints, as a reader pastes it into a shell. Where there is no curl, what the line says is
// called by fetch: the rest of the tests needs the message.
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import type { Test } from 'tap';

export interface CurlAnswer {
  status: string;
  body: string;
}

export async function pasteCurlLine(t: Test, line: string): Promise<CurlAnswer> {
  if (spawnSync('curl', ['--version']).error !== undefined) return callInstead(t, line);
  const { stdout } = await promisify(execFile)('sh', ['-c', `${line} -w '\\n%{http_code}'`]);
  const [body = '', status = ''] = stdout.split('\n');
  return { status, body };
}

async function callInstead(t: Test, line: string): Promise<CurlAnswer> {
  const [, url = ''] = /(http:\S+)/.exec(line) ?? [];
  t.ok(url, 'note: the printed line was called by fetch, since there is no curl: apt-get install curl');
  const [, body = ''] = / -d '([^']*)'/.exec(line) ?? [];
  const headers = [...line.matchAll(/ -H '([^:']+): ([^']*)'/g)].map(([, name, value]) => [name!, value!]);
  const answer = await fetch(url, { method: 'POST', headers: Object.fromEntries(headers), body });
  return { status: String(answer.status), body: await answer.text() };
}
