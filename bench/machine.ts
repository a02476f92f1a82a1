// What a figure is worth without the machine it was measured on: nothing.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export interface Machine {
  date: string;
  cpu: string;
  cores: number;
  memoryGiB: number;
  os: string;
  node: string;
  /** Of the folder that holds the databases. */
  fileSystem: string;
  /** Of the last minute, before the run: what else was going on. */
  loadBefore: number;
}

export function describeMachine(folder: string): Machine {
  const cpus = os.cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: (cpus[0]?.model ?? 'unknown').replace(/\s+/g, ' ').trim(),
    cores: cpus.length,
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    os: `${os.type()} ${os.release()}`,
    node: process.version,
    fileSystem: fileSystemOf(folder),
    loadBefore: os.loadavg()[0]!,
  };
}

/** For file names: the maker's word for the processor, and how many of them. */
export function shortName({ cpu, cores }: Machine): string {
  const words = cpu
    .toLowerCase()
    .replace(/\((r|tm)\)|@.*$|\b(cpu|processor|core)\b/g, '')
    .match(/[a-z0-9]+/g);
  return [...(words ?? ['machine']).slice(0, 3), `${cores}-cores`].join('-');
}

function fileSystemOf(folder: string): string {
  try {
    const mounts = fs.readFileSync('/proc/mounts', 'utf8').split('\n');
    const holding = mounts
      .map((line) => line.split(' '))
      .filter(([, point]) => point !== undefined && isWithin(path.resolve(folder), point))
      .sort((a, b) => b[1]!.length - a[1]!.length)[0];
    return holding?.[2] ?? 'unknown';
  } catch {
    return 'unknown';
  }
}

function isWithin(folder: string, point: string): boolean {
  return folder === point || folder.startsWith(point.endsWith('/') ? point : `${point}/`);
}
