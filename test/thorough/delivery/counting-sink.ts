// A process that takes mail by SMTP and keeps none of it: it begins to read bodies when so many connections are within
// one, and says how large each body was and its hash. In a process of its own, so that its memory is not counted.
import { createHash } from 'node:crypto';
import { createServer, type Socket } from 'node:net';

export interface SinkFacts {
  port?: number;
  /** Of the message with this recipient: of all after the header, as it came. */
  body?: { to: string; bytes: number; sha256: string };
  /** So many connections are within a body. */
  within?: number;
}

const HEADER_END = '\r\n\r\n';
const END = '\r\n.\r\n';

const [awaited] = process.argv.slice(2).map(Number);
const waiting: Socket[] = [];
const tell = (facts: SinkFacts) => process.send!(facts);

function begin(socket: Socket): void {
  socket.pause();
  waiting.push(socket);
  tell({ within: waiting.length });
  if (waiting.length >= awaited!) for (const one of waiting) one.resume();
}

const server = createServer((socket) => {
  let text = '';
  let to = '';
  let header: string | null = null;
  let body: { hash: ReturnType<typeof createHash>; bytes: number; held: Buffer } | null = null;
  const say = (line: string) => socket.write(`${line}\r\n`);
  const finish = () => {
    const { hash, bytes, held } = body!;
    hash.update(held.subarray(0, -END.length + 2));
    tell({ body: { to, bytes: bytes - END.length + 2, sha256: hash.digest('hex') } });
    [body, header, text] = [null, null, ''];
    say('250 2.0.0 taken');
  };
  const takeBody = (chunk: Buffer) => {
    const { hash, held } = body!;
    const all = Buffer.concat([held, chunk]);
    body!.bytes += chunk.length;
    const kept = Math.min(all.length, END.length);
    hash.update(all.subarray(0, all.length - kept));
    body!.held = Buffer.from(all.subarray(all.length - kept));
    if (body!.held.toString('latin1') === END) finish();
  };
  const command = (line: string) => {
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'RCPT') to = /<(.*)>/.exec(line)?.[1] ?? '';
    if (verb === 'QUIT') return void socket.end('221 bye\r\n');
    if (verb !== 'DATA') return void say('250 ok');
    say('354 go ahead');
    header = '';
    begin(socket);
  };
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    if (body) return takeBody(chunk);
    text += chunk.toString('latin1');
    for (let end = text.indexOf('\r\n'); header === null && end >= 0; end = text.indexOf('\r\n')) {
      command(text.slice(0, end));
      text = text.slice(end + 2);
    }
    const end = header === null ? -1 : text.indexOf(HEADER_END);
    if (end < 0) return;
    body = { hash: createHash('sha256'), bytes: 0, held: Buffer.alloc(0) };
    takeBody(Buffer.from(text.slice(end + HEADER_END.length), 'latin1'));
  });
  say('220 sink ESMTP');
});
server.listen(0, '127.0.0.1', () => tell({ port: (server.address() as { port: number }).port }));
