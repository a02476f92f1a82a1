// node scripts/make-favicon.ts: draws src/public/assets/favicon.ico from favicon.svg beside it, with Chromium.
// For browsers that know no SVG as an icon, and for those that ask for /favicon.ico without being told to.
import { readFileSync, writeFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const SIZES = [16, 32, 48];
const FOLDER = new URL('../src/public/assets/', import.meta.url);
const HEAD_BYTES = 6;
const ENTRY_BYTES = 16;

writeFileSync(new URL('favicon.ico', FOLDER), icon(await draw(readFileSync(new URL('favicon.svg', FOLDER)))));

async function draw(svg: Buffer): Promise<Buffer[]> {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  const page = await browser.newPage();
  const pictures: Buffer[] = [];
  for (const size of SIZES) {
    await page.setViewportSize({ width: size, height: size });
    const source = `data:image/svg+xml;base64,${svg.toString('base64')}`;
    await page.setContent(`<body style="margin:0"><img src="${source}" width="${size}" height="${size}">`);
    pictures.push(await page.screenshot({ omitBackground: true }));
  }
  await browser.close();
  return pictures;
}

/** A folder of PNG files, as every browser takes it. */
function icon(pictures: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(HEAD_BYTES + ENTRY_BYTES * pictures.length);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(pictures.length, 4);
  let offset = head.length;
  for (const [index, picture] of pictures.entries()) {
    const at = HEAD_BYTES + ENTRY_BYTES * index;
    head.writeUInt8(SIZES[index]!, at);
    head.writeUInt8(SIZES[index]!, at + 1);
    head.writeUInt16LE(1, at + 4);
    head.writeUInt16LE(32, at + 6);
    head.writeUInt32LE(picture.length, at + 8);
    head.writeUInt32LE(offset, at + 12);
    offset += picture.length;
  }
  return Buffer.concat([head, ...pictures]);
}
