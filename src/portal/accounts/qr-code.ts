// A QR code (ISO/IEC 18004) as an SVG picture: one path, black on white also where the page is dark, because
// scanners want it so.
import { encode } from 'uqr';
import { Html } from '../../http/html.ts';

/** The quiet zone, in modules: section 5.3.8. */
const BORDER = 4;

export function qrCode(text: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: BORDER });
  let path = '';
  for (const [y, row] of data.entries()) {
    for (const [x, dark] of row.entries()) if (dark) path += `M${x} ${y}h1v1h-1z`;
  }
  return new Html(
    `<svg class="qr" role="img" aria-label="QR code with the key for your authenticator app" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path d="${path}" fill="#000"/></svg>`,
  );
}
