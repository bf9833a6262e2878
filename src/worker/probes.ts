import { INestApplicationContext } from '@nestjs/common';
import { answer, answerMetrics, PrivatePort, servePrivately } from '../http/health/private-port';
import { MetricsService } from '../http/metrics/metrics.service';
import { RunningConfig } from '../platform/config/config';
import { JobSchedulerService } from './job-scheduler.service';

/**
 * Serves /livez, /readyz and /metrics of a worker on its own port.
 * @throws StartError if the port is taken.
 */
export function serveProbes(
  worker: INestApplicationContext,
  { host, workerPort }: Pick<RunningConfig, 'host' | 'workerPort'>,
): Promise<PrivatePort> {
  const scheduler = worker.get(JobSchedulerService);
  return servePrivately(
    {
      '/livez': (response) => answer(response, 200, { status: 'ok' }),
      '/readyz': (response) => {
        const { held } = scheduler;
        return held
          ? answer(response, 200, { status: 'ok', jobs: held })
          : answer(response, 503, { status: 'error' });
      },
      '/metrics': answerMetrics(worker.get(MetricsService, { strict: false })),
    },
    { host, port: workerPort, variable: 'WORKER_PORT' },
  );
}
