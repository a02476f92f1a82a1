// Checks whether an address can be listened on, and which port 0 becomes. uWebSockets reports no reason of a failure,
// and silently shares a fixed port with another process (SO_REUSEPORT); node:net says EADDRINUSE, EACCES,
// EADDRNOTAVAIL.
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
