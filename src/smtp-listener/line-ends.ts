// CR and LF only together (RFC 5321 section 2.3.8). Where two servers disagree about line ends, a mail can
// smuggle a second one past the first server (SMTP smuggling, 2023), so doubtful line ends are refused, not
// repaired. NUL is accepted: it ends neither line nor mail for any server, inbound mail is never relayed as it
// is, and a report that returns a damaged original is worth more than its refusal.

const CR = 0x0d;
const LF = 0x0a;

/** The index of the first bare CR or LF, or -1. */
export function bareLineEndAt(bytes: Buffer): number {
  let cr = bytes.indexOf(CR);
  let lf = bytes.indexOf(LF);
  while (cr >= 0 && lf >= 0) {
    if (lf !== cr + 1) return Math.min(cr, lf);
    cr = bytes.indexOf(CR, lf + 1);
    lf = bytes.indexOf(LF, lf + 1);
  }
  return Math.max(cr, lf);
}

/** The number of the line at this index; the first is 1. */
export function lineAt(bytes: Buffer, index: number): number {
  let line = 1;
  for (let lf = bytes.indexOf(LF); lf >= 0 && lf < index; lf = bytes.indexOf(LF, lf + 1)) line++;
  return line;
}
