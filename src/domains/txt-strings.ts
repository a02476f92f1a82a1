// The value of a TXT record as strings of at most 255 octets (RFC 1035 section 3.3.14), and in the quoted form of
// zone files (section 5.1), which many DNS providers' forms accept, too.

export const TXT_STRING_MAX_OCTETS = 255;

export function txtStrings(value: string): Buffer[] {
  const bytes = Buffer.from(value);
  const strings: Buffer[] = [];
  for (let from = 0; from < bytes.length || from === 0; from += TXT_STRING_MAX_OCTETS) {
    strings.push(bytes.subarray(from, from + TXT_STRING_MAX_OCTETS));
  }
  return strings;
}

export function quotedTxt(value: string): string {
  return txtStrings(value).map(quoted).join(' ');
}

function quoted(text: Buffer): string {
  const written = [...text].map((octet) => {
    if (octet === 0x22 || octet === 0x5c) return `\\${String.fromCharCode(octet)}`;
    return octet >= 0x20 && octet < 0x7f ? String.fromCharCode(octet) : `\\${String(octet).padStart(3, '0')}`;
  });
  return `"${written.join('')}"`;
}
