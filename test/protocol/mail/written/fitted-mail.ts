// A mail on its way through the door: its header as it leaves, then its body with lines that fit.
import { LineFitter } from '../../../../src/protocol/mail/written/fit-lines.ts';
import { withTransferEncoding } from '../../../../src/protocol/mail/written/re-encode.ts';
import { readWrittenHeader } from '../../../../src/protocol/mail/written/written-header.ts';

const ADDED = { date: new Date('2026-11-26T10:00:00Z'), id: '01931f00-0000-7000-8000-000000000001' };

/** In chunks of this size, or those that are given. */
export function fitLines(raw: Buffer, cut: number | ((body: Buffer) => Buffer[])) {
  const end = raw.indexOf('\r\n\r\n') + 4;
  const header = readWrittenHeader(raw.subarray(0, end), ADDED);
  if ('problem' in header) throw new Error(header.problem);
  const fitter = new LineFitter(header);
  const body = raw.subarray(end);
  const chunks = typeof cut === 'number' ? evenly(body, cut) : cut(body);
  const parts = [...chunks.flatMap((chunk) => fitter.push(chunk)), ...fitter.end()];
  const { problem, encoding } = fitter;
  const leaving = encoding === null ? header.leaving : withTransferEncoding(header.leaving, encoding);
  return { problem, leaving: Buffer.concat([leaving, Buffer.from('\r\n'), ...parts]) };
}

function evenly(body: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(body.length / size) }, (_, index) =>
    body.subarray(index * size, (index + 1) * size),
  );
}
