// The paths of MAIL and RCPT as they were written (RFC 5321 section 4.1.2). smtp-server refuses paths that many programs
// send, such as `<root>`, and turns domains into Unicode. So it is shown another path, and checks the rest of the command.

type PathCommand = 'mail from' | 'rcpt to';

/** The part of smtp-server's connection that we wrap (3.21.6, smtp-connection.js). */
interface PathReader<Parsed extends { address: string }> {
  _parseAddressCommand(name: string, command: Buffer | string): Parsed | false;
}

/** What stands before the path, the path, and its `>` with the parameters. Angle brackets may be inside quotes. */
const COMMAND = /^([^:]*:\s*<)((?:"(?:[^"\\]|\\.)*"|[^<>"])*)(>(?:\s.*)?)$/s;
/** RFC 5321 appendix C: is to be accepted and ignored. */
const SOURCE_ROUTE = /^@[^\s,:@]+(?:,@[^\s,:@]+)*:/;
/** Not in an address that nothing else checks: it gets into logs and on pages. */
const UNSAFE = /[\x00-\x1f\x7f-\x9f\u200b\u2060\ufeff]/;
const STAND_IN = 'any@any.example';

/** The path of a sender is any text. That of a recipient needs the check of whoever reads it: smtp-server makes none. */
export function keepPathAsWritten<Parsed extends { address: string }>(
  connection: PathReader<Parsed>,
  command: PathCommand,
): void {
  const parse = connection._parseAddressCommand.bind(connection);
  connection._parseAddressCommand = (name, raw) => {
    const [, before, path, after] = (name === command && COMMAND.exec(raw.toString())) || [];
    const address = path?.replace(SOURCE_ROUTE, '') ?? '';
    const isUnsafe = command === 'mail from' && UNSAFE.test(address);
    if (address.trim() === '' || isUnsafe) return parse(name, raw);
    const parsed = parse(name, `${before}${STAND_IN}${after}`);
    return parsed && { ...parsed, address };
  };
}
