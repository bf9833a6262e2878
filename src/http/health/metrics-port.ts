import { INestApplicationContext } from '@nestjs/common';
import { RunningConfig } from '../../platform/config/config';
import { MetricsService } from '../metrics/metrics.service';
import { answerMetrics, PrivatePort, servePrivately } from './private-port';

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
