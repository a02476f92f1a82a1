// `npm run audit`: asks the configured registry whether there are advisories about the versions in package-lock.json,
// through npm itself. Ends with 0: none; 1: there are some, listed; 2: the registry did not answer, so nothing is known.
import { execFile } from 'node:child_process';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..');
const EXIT = { clean: 0, advisories: 1, unknown: 2 } as const;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

interface Vulnerability {
  name: string;
  severity: string;
  range: string;
  via: (string | { title: string; url: string })[];
}

interface Report {
  vulnerabilities?: Record<string, Vulnerability>;
  metadata?: { dependencies?: { total?: number } };
  message?: string;
  error?: { summary?: string };
}

function npmAudit(): Promise<string> {
  const args = ['audit', '--json', '--package-lock-only', '--fetch-retries=1'];
  return new Promise((resolve) => {
    // npm ends with 1 for advisories and for failures alike: only its output tells them apart.
    execFile('npm', args, { cwd: ROOT, maxBuffer: MAX_OUTPUT_BYTES }, (_error, stdout) => resolve(stdout));
  });
}

function parse(text: string): Report | null {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return null;
  }
}

function describe({ name, severity, range, via }: Vulnerability): string {
  const causes = via.map((cause) => (typeof cause === 'string' ? `through ${cause}` : `${cause.title} ${cause.url}`));
  return `${severity}: ${name} ${range}\n  ${causes.join('\n  ')}`;
}

const report = parse(await npmAudit());
if (!report?.vulnerabilities) {
  const why = report?.message ?? report?.error?.summary ?? 'npm audit gave no report';
  console.error(`The registry did not answer, so nothing is known about advisories: ${why}`);
  console.error('Try again with a registry that has the bulk advisory endpoint: npm_config_registry=… npm run audit');
  process.exitCode = EXIT.unknown;
} else {
  const found = Object.values(report.vulnerabilities);
  const total = report.metadata?.dependencies?.total ?? 0;
  console.log(`${total} packages, ${found.length} with advisories.`);
  for (const vulnerability of found) console.log(describe(vulnerability));
  process.exitCode = found.length > 0 ? EXIT.advisories : EXIT.clean;
}
