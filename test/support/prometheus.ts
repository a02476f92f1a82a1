// Prometheus and promtool, out of a temporary folder: a server that scrapes what the test says, every half second.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { findFreePort } from './free-port.ts';
import { patience } from './patience.ts';
import { runServer } from './server-program.ts';
import { testFolder } from './test-folder.ts';
import { until } from './until.ts';

export interface PrometheusOptions {
  /** Host and port. */
  targets: string[];
  ruleFiles: string[];
}

export interface Series {
  metric: Record<string, string>;
  /** Time and value. */
  values: [number, string][];
}

export interface Prometheus {
  /** The data of an answer; throws the server's words when it is an error. */
  ask(endpoint: string, parameters?: Record<string, string>): Promise<unknown>;
  /** The series of the last minute, as a panel asks for them. */
  range(expr: string): Promise<Series[]>;
}

/** Why there is no Prometheus here, or false. */
export function prometheusMissing(): string | false {
  const missing = ['prometheus', 'promtool'].some((program) => spawnSync(program, ['--version']).error !== undefined);
  return missing && 'Prometheus is not installed: apt-get install prometheus';
}

export function promtool(args: string[], input = ''): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { status, said: `${stdout}${stderr}`.trim() };
}

export async function startPrometheus(t: Test, { targets, ruleFiles }: PrometheusOptions): Promise<Prometheus> {
  const folder = testFolder(t);
  const port = await findFreePort();
  const config = {
    global: { scrape_interval: '500ms', evaluation_interval: '500ms' },
    rule_files: ruleFiles,
    scrape_configs: [{ job_name: 'postrider', static_configs: [{ targets }] }],
  };
  const configFile = path.join(folder, 'prometheus.yml');
  fs.writeFileSync(configFile, JSON.stringify(config)); // YAML, too
  const server = runServer('prometheus', [
    `--config.file=${configFile}`,
    `--storage.tsdb.path=${path.join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    `--query.timeout=${Math.ceil(patience(30_000) / 1000)}s`,
  ]);
  t.teardown(() => server.stop());
  const base = `http://127.0.0.1:${port}`;
  const ready = () =>
    fetch(`${base}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until('Prometheus', ready, 60_000);
  const ask = async (endpoint: string, parameters: Record<string, string> = {}) => {
    const response = await fetch(`${base}/api/v1/${endpoint}?${new URLSearchParams(parameters)}`);
    const { status, data, error } = (await response.json()) as { status: string; data: unknown; error?: string };
    if (status !== 'success') throw new Error(error);
    return data;
  };
  return {
    ask,
    async range(expr) {
      const end = Date.now() / 1000;
      const times = { start: String(end - 60), end: String(end), step: '1' };
      return ((await ask('query_range', { query: expr, ...times })) as { result: Series[] }).result;
    },
  };
}
