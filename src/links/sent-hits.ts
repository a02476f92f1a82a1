// Opens and clicks as messages between threads: one text, which costs a fraction of as many objects.
import type { Hit } from './hit-recorder.ts';

type Columns = [
  messageId: string,
  tenantId: string,
  at: number,
  link: Hit['link'],
  linkCount: number,
  url: string,
  ip: string,
  userAgent: string | null,
];

export function hitText({ subject, at, link, linkCount, url, ip, userAgent }: Hit): string {
  const { messageId, tenantId } = subject;
  return JSON.stringify([messageId, tenantId, at, link, linkCount, url, ip, userAgent] satisfies Columns);
}

export function joinHits(texts: readonly string[]): string {
  return `[${texts.join(',')}]`;
}

export function readHits(sent: string): Hit[] {
  const rows = JSON.parse(sent) as Columns[];
  return rows.map(([messageId, tenantId, at, link, linkCount, url, ip, userAgent]) => {
    return { subject: { messageId, tenantId }, at, link, linkCount, url, ip, userAgent };
  });
}
