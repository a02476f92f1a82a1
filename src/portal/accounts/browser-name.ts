// What a browser calls itself (RFC 9110 section 10.1.5), made readable: enough to tell one's own devices apart.

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\b(iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

const MOST_CHARS = 60;

export function browserName(client: string | null): string {
  if (!client) return 'An unnamed browser';
  const [browser, system] = [BROWSERS, SYSTEMS].map((list) => list.find(([shape]) => shape.test(client))?.[1]);
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? (client.length > MOST_CHARS ? `${client.slice(0, MOST_CHARS)}…` : client);
}
