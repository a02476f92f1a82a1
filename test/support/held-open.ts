// How many connections the clients at an address hold open to a port, both on this machine: what the kernel says. The server
// hears of an end only after it has read all that was sent before, such as half of a large mail that was broken off.
import fs from 'node:fs';

/** In proc_pid_net(5). */
const ESTABLISHED = '01';
const [LOCAL, REMOTE, STATE] = [1, 2, 3];

/** Of IPv4. */
export function heldOpen(from: string, port: number): number {
  const rows = fs.readFileSync('/proc/net/tcp', 'latin1').split('\n').slice(1);
  const sockets = rows.map((row) => row.trim().split(/\s+/));
  const isOurs = (socket: string[]) =>
    socket[STATE] === ESTABLISHED && socket[LOCAL]!.startsWith(`${inHex(from)}:`) && portOf(socket[REMOTE]!) === port;
  return sockets.filter(isOurs).length;
}

/** As the kernel writes it on a machine with little-endian numbers. */
function inHex(ip: string): string {
  return Buffer.from(ip.split('.').map(Number).reverse()).toString('hex').toUpperCase();
}

function portOf(address: string): number {
  return Number.parseInt(address.slice(address.indexOf(':') + 1), 16);
}
