// CR and LF only together: RFC 5321 section 2.3.8. Where two servers do not agree on what ends a
// line, a mail can carry a second one past the first server (SMTP smuggling, 2023): what is
// doubtful is refused, not put right. NUL is taken: it ends no line and no mail for anybody, nothing that comes in
// goes on as it came, and a report that returns a damaged original is worth more than its refusal.

const CR = 0x0d;
const LF = 0x0a;

/** Where the first lone CR or LF stands, or -1. */
export function loneLineEndAt(octets: Buffer): number {
  let cr = octets.indexOf(CR);
  let lf = octets.indexOf(LF);
  while (cr >= 0 && lf >= 0) {
    if (lf !== cr + 1) return Math.min(cr, lf);
    cr = octets.indexOf(CR, lf + 1);
    lf = octets.indexOf(LF, lf + 1);
  }
  return Math.max(cr, lf);
}

/** The number of the line in which the place is; the first is 1. */
export function lineAt(octets: Buffer, place: number): number {
  let line = 1;
  for (let lf = octets.indexOf(LF); lf >= 0 && lf < place; lf = octets.indexOf(LF, lf + 1)) line++;
  return line;
}
