// The version of this program, from its one place: package.json.
import { readFileSync } from 'node:fs';

export function programVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}
