import { INestApplicationContext } from '@nestjs/common';
import { createServer, Server, ServerResponse } from 'node:http';
import { AddressInfo } from 'node:net';
import { MetricsService } from '../http/metrics/metrics.service';
import { RunningConfig, StartError } from '../platform/config/config';
import { ForemanService } from './foreman.service';

interface Probes {
  url: string;
  close: () => void;
}

/**
 * Serves /livez, /readyz and /metrics of a worker, on a port of its own.
 * @throws StartError if this process cannot have the port.
 */
export async function serveProbes(
  worker: INestApplicationContext,
  { host, workerPort }: Pick<RunningConfig, 'host' | 'workerPort'>,
): Promise<Probes> {
  const foreman = worker.get(ForemanService);
  const metrics = worker.get(MetricsService, { strict: false });
  const server = createServer((request, response) => {
    if (request.method !== 'GET') return answer(response, 405, { status: 'error' });
    if (request.url === '/livez') return answer(response, 200, { status: 'ok' });
    if (request.url === '/readyz') {
      const { held } = foreman;
      return held ? answer(response, 200, { status: 'ok', jobs: held }) : answer(response, 503, { status: 'error' });
    }
    if (request.url !== '/metrics') return answer(response, 404, { status: 'error' });
    void metrics.text().then(
      ({ contentType, body }) => response.setHeader('content-type', contentType).end(body),
      () => answer(response, 500, { status: 'error' }),
    );
  });
  await listen(server, workerPort, host);
  const { port } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${name}:${port}`, close: () => void server.close() };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new StartError(`the worker cannot listen on port ${port} (${code}). Set WORKER_PORT to another port.`)),
    );
    server.listen(port, host, resolve);
  });
}
