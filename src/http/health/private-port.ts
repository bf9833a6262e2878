import { createServer, Server, ServerResponse } from 'node:http';
import { AddressInfo } from 'node:net';
import { INestApplicationContext } from '@nestjs/common';
import { RunningConfig, StartError } from '../../platform/config/config';
import { MetricsService } from '../metrics/metrics.service';

/** Answers a GET request of one path. */
type ProbeHandler = (response: ServerResponse) => void;

export interface PrivatePort {
  url: string;
  close: () => void;
}

/** Where a private port listens, and the variable that sets it. */
interface PrivateEndpoint {
  host: string;
  port: number;
  variable: string;
}

/**
 * Serves probes or metrics on a port of their own, which only the operator's network reaches.
 * @throws StartError if this process cannot have the port.
 */
export async function servePrivately(
  paths: Readonly<Record<string, ProbeHandler>>,
  endpoint: PrivateEndpoint,
): Promise<PrivatePort> {
  const known = new Map(Object.entries(paths));
  const server = createServer((request, response) => {
    if (request.method !== 'GET') return answer(response, 405, { status: 'error' });
    const answering = known.get(request.url ?? '');
    return answering ? answering(response) : answer(response, 404, { status: 'error' });
  });
  await listen(server, endpoint);
  const { port } = server.address() as AddressInfo;
  const name = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://${name}:${port}`, close };
}

export function answer(response: ServerResponse, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}

/** Returns an answer with the metrics of this process. */
export const answerMetrics =
  (metrics: MetricsService): ProbeHandler =>
  (response) =>
    void metrics.text().then(
      ({ contentType, body }) => response.setHeader('content-type', contentType).end(body),
      () => answer(response, 500, { status: 'error' }),
    );

function listen(server: Server, { host, port, variable }: PrivateEndpoint): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new StartError(`cannot listen on port ${port} (${code}). Set ${variable} to another port.`)),
    );
    server.listen(port, host, resolve);
  });
}

/** Returns whether the metrics have a port of their own, so that apps cannot read them. */
export function hasMetricsPort({ port, metricsPort }: Pick<RunningConfig, 'port' | 'metricsPort'>): boolean {
  return metricsPort !== port;
}

/**
 * Serves /metrics of a proxy on METRICS_PORT. Resolves with undefined if PORT serves it.
 * @throws StartError if this process cannot have the port.
 */
export async function serveMetrics(
  app: INestApplicationContext,
  settings: Pick<RunningConfig, 'host' | 'port' | 'metricsPort'>,
): Promise<PrivatePort | undefined> {
  if (!hasMetricsPort(settings)) return undefined;
  const paths = { '/metrics': answerMetrics(app.get(MetricsService, { strict: false })) };
  return servePrivately(paths, { host: settings.host, port: settings.metricsPort, variable: 'METRICS_PORT' });
}
