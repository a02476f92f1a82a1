// The mails that come back for messages, with their labels: bounces, auto-replies and complaints. `bounces` are real,
// `made` and `formats` were made up whole, each with a README.md; `replies` are lines of replies.txt within frames
// (bare-replies.txt is read as servers send it).
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BOB, FRAMES } from './frames.ts';

export const KINDS = ['hard', 'soft', 'block', 'auto_reply', 'complaint', 'delivered_notice', 'unknown'] as const;

export interface CorpusMail {
  file: string;
  octets: Buffer;
  expected: {
    kind: (typeof KINDS)[number];
    kind_ok: string[];
    label: 'exact' | 'coarse';
    recipient: string | null;
    recipient_ok?: string[];
    status: string | null;
    status_ok?: string[];
  };
}

export const CORPORA = ['bounces', 'made', 'formats', 'replies'] as const;
export type CorpusName = (typeof CORPORA)[number];

export function readCorpus(name: CorpusName): CorpusMail[] {
  if (name === 'replies') return framedReplies();
  const base = new URL(`./${name}/`, import.meta.url);
  const lines = fs.readFileSync(new URL('expected.jsonl', base), 'utf8').trim().split('\n');
  return lines.map((line) => {
    const { file, expected } = JSON.parse(line);
    return { file, expected, octets: fs.readFileSync(fileURLToPath(new URL(file, base))) };
  });
}

/** Lines of `kinds|reply`. */
export function readReplies(
  name: 'replies' | 'bare-replies',
): { kinds: CorpusMail['expected']['kind'][]; reply: string }[] {
  const text = fs.readFileSync(new URL(`./${name}.txt`, import.meta.url), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const at = line.indexOf('|');
    return { kinds: line.slice(0, at).split(',') as CorpusMail['expected']['kind'][], reply: line.slice(at + 1) };
  });
}

function framedReplies(): CorpusMail[] {
  const frames = Object.entries(FRAMES);
  return readReplies('replies').map(({ kinds, reply }, number) => {
    const [frame, inFrame] = frames[number % frames.length]!;
    const label = kinds.length === 1 ? 'exact' : 'coarse';
    const expected = { kind: kinds[0]!, kind_ok: kinds, label, recipient: BOB, status: null } as const;
    return { file: `${frame}: ${reply}`, expected, octets: Buffer.from(inFrame(reply)) };
  });
}
