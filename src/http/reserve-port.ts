// Finds out whether an address can be listened on, and which port 0 becomes. uWebSockets
// says of every failure only that there was one, and shares a fixed port with another
// process without a word (SO_REUSEPORT); node:net says EADDRINUSE, EACCES, EADDRNOTAVAIL.
import { type AddressInfo, createServer } from 'node:net';

export function reservePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ host, port, exclusive: true }, () => {
      const found = (probe.address() as AddressInfo).port;
      probe.close(() => resolve(found));
    });
  });
}
