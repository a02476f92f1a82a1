// Content-Disposition of a download (RFC 6266). Its name may be anything that somebody else has chosen: nothing of it can end
// the value, or the line.

/** Programs that don't know RFC 8187 see the first name: ASCII, with a `_` for everything else. */
export function downloadAs(filename: string): string {
  const wellFormed = filename.toWellFormed();
  // A percent sign is left out too: some programs decode it where they should not (RFC 6266 appendix D).
  const plain = wellFormed.replace(/[^\x20-\x7e]|["\\%/]/gu, '_');
  const disposition = `attachment; filename="${plain}"`;
  return plain === wellFormed ? disposition : `${disposition}; filename*=UTF-8''${extValue(wellFormed)}`;
}

/** RFC 8187 section 3.2.1: what encodeURIComponent leaves as it is, except for four characters. */
function extValue(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
