/**
 * nginx with one worker, as all others have one process. It passes everything on and records nothing. If it
 * is not installed, the exit code is 3.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { URL } from 'node:url';
import { fail, ready, settings } from './support/contestant.mjs';

const [upstream, upstreamKey] = settings('UPSTREAM_URL', 'UPSTREAM_API_KEY');
if (spawnSync('nginx', ['-v']).error) fail('nginx is not on PATH: the comparison goes on without it', 3);

const port = await freePort();
const folder = mkdtempSync(join(tmpdir(), 'bench-nginx-'));
const file = join(folder, 'nginx.conf');
writeFileSync(file, config(folder));
const nginx = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', file], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
process.once('SIGTERM', () => nginx.kill('SIGTERM'));
nginx.once('exit', (code) => {
  rmSync(folder, { recursive: true });
  process.exit(code ?? 1);
});
while (!(await answers(port))) await setTimeout(10); // It does not report when it is ready.
ready(`http://127.0.0.1:${port}`);

/** Bodies and answers stay in memory. Connections on both sides are kept longer than a round takes. */
function config(folder) {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
    daemon off;
    pid nginx.pid;
    worker_processes 1;
    ${process.getuid() === 0 ? `user ${userInfo().username};` : '' /* else it warns */}
    events { worker_connections 4096; }
    http {
      access_log off;
      ${temporary.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join('\n      ')}
      client_max_body_size 4m;
      client_body_buffer_size 256k;
      proxy_buffers 16 32k;
      proxy_max_temp_file_size 0;
      keepalive_requests 100000000;
      upstream service {
        server ${new URL(upstream).host};
        keepalive 256;
        keepalive_requests 100000000;
      }
      server {
        listen 127.0.0.1:${port} backlog=1024;
        location / {
          proxy_pass http://service;
          proxy_http_version 1.1;
          proxy_set_header Host ${new URL(upstream).host};
          proxy_set_header Connection "";
          proxy_set_header X-API-Key "${upstreamKey}";
        }
      }
    }`;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(port) {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
