// A real nginx in front of a daemon, as an operator would put it there: it speaks TLS and tells
// who called. Its whole life is in one folder.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import type { Test } from 'tap';
import { findFreePort } from './free-port.ts';
import { patience } from './patience.ts';

export interface NginxOptions {
  folder: string;
  certFile: string;
  keyFile: string;
  upstreamPort: number;
}

const PATIENCE_MS = 10_000;

/** Why there is no nginx here, or false. */
export function nginxMissing(): string | false {
  const { error } = spawnSync('nginx', ['-v']);
  return error ? `nginx is not installed: ${error.message}` : false;
}

/** Gives the port at which it speaks TLS. */
export async function startNginx(t: Test, options: NginxOptions): Promise<number> {
  const port = await findFreePort();
  fs.mkdirSync(options.folder);
  const configFile = path.join(options.folder, 'nginx.conf');
  fs.writeFileSync(configFile, configuration(options, port));
  const nginx = spawn('nginx', ['-p', options.folder, '-e', 'stderr', '-c', configFile]);
  let said = '';
  nginx.stderr.on('data', (part: Buffer) => {
    said += part.toString();
  });
  const ended = once(nginx, 'close');
  t.teardown(async () => {
    nginx.kill('SIGTERM');
    await ended;
  });
  await listening(nginx, port, () => said);
  return port;
}

/** The lines that matter to the daemon are those of `location`. */
function configuration({ folder, certFile, keyFile, upstreamPort }: NginxOptions, port: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
daemon off;
worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${folder}/pid;
error_log stderr;
events {}
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${certFile};
    ssl_certificate_key ${keyFile};
    client_max_body_size 0;
    large_client_header_buffers 4 32k;
    location / {
      proxy_pass http://127.0.0.1:${upstreamPort};
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
}
`;
}

async function listening(nginx: ChildProcess, port: number, said: () => string): Promise<void> {
  const deadline = Date.now() + patience(PATIENCE_MS);
  for (;;) {
    if (nginx.exitCode !== null || Date.now() > deadline) throw new Error(`nginx does not listen: ${said()}`);
    const socket = net.connect(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'close').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
