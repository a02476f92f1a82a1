// A server's capabilities: the keywords of its EHLO reply (RFC 5321 section 4.1.1.1).

export interface Capabilities {
  /** RFC 1870: the maximum message size in octets; null when there is no fixed limit or none is given. */
  maxSizeBytes: number | null;
  /** Whether MAIL may have `SIZE=`. */
  size: boolean;
  /** RFC 2920. */
  pipelining: boolean;
  /** RFC 3207. */
  startTls: boolean;
  /** RFC 6152. */
  eightBitMime: boolean;
  /** RFC 6531. */
  smtpUtf8: boolean;
  /** RFC 2034. */
  enhancedStatusCodes: boolean;
  /** RFC 3030. */
  chunking: boolean;
  /** RFC 3461. */
  dsn: boolean;
  /** Every keyword in upper case. */
  keywords: ReadonlySet<string>;
}

/** `lines` as in Reply.lines of the EHLO reply; none for a server that only supports HELO. */
export function parseCapabilities(lines: readonly string[]): Capabilities {
  const parameters = new Map<string, string>();
  // The first line is the server's name and greeting.
  for (const line of lines.slice(1)) {
    // `AUTH=LOGIN` and `SIZE=1000` are an old misreading of the RFC that still occurs.
    const [keyword = '', parameter = ''] = line.trim().split(/[\s=]+/, 2);
    if (keyword !== '') parameters.set(keyword.toUpperCase(), parameter);
  }
  return {
    maxSizeBytes: parseSize(parameters.get('SIZE')),
    size: parameters.has('SIZE'),
    pipelining: parameters.has('PIPELINING'),
    startTls: parameters.has('STARTTLS'),
    eightBitMime: parameters.has('8BITMIME'),
    smtpUtf8: parameters.has('SMTPUTF8'),
    enhancedStatusCodes: parameters.has('ENHANCEDSTATUSCODES'),
    chunking: parameters.has('CHUNKING'),
    dsn: parameters.has('DSN'),
    keywords: new Set(parameters.keys()),
  };
}

function parseSize(parameter: string | undefined): number | null {
  if (parameter === undefined || !/^\d{1,20}$/.test(parameter)) return null;
  // RFC 1870 section 4: zero means that there is no fixed maximum.
  return Number(parameter) || null;
}
