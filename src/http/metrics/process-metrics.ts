import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, register } from 'prom-client';
import { BUILD } from '../../platform/build';

/** Sampling interval that disables prom-client's own monitor. `measureEventLoop` replaces it. */
const NEVER_MS = 1_000_000_000;

/**
 * Measures the process: its memory, its CPU time, its event loop and its build. Once per process, however
 * many apps it serves, because timers and observers cannot be removed.
 */
export function measureProcess(): void {
  if (register.getMetricsAsArray().length > 0) return;
  collectDefaultMetrics({ eventLoopMonitoringPrecision: NEVER_MS });
  measureEventLoop();
  new Gauge({
    name: 'payout_proxy_build_info',
    help: 'Always 1. The labels are the version and the commit of the build.',
    labelNames: ['version', 'commit'],
  }).set(BUILD, 1);
}

/** Sampling interval of the delay, in milliseconds. */
const RESOLUTION_MS = 10;

const NANOSECONDS = 1e9;

/** prom-client's own names of these metrics. */
const OTHER_NAMES = /^nodejs_eventloop_lag_/;

/**
 * Measures how late the event loop of this process is, under the names of OpenTelemetry's semantic
 * conventions. Each scrape reads the time since the one before.
 */
function measureEventLoop(): void {
  for (const { name } of register.getMetricsAsArray())
    if (OTHER_NAMES.test(name)) register.removeSingleMetric(name);
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  // A sample of a punctual loop is the resolution itself. Without samples, the minimum is huge and the mean
  // is not a number.
  const late = (nanoseconds: number) =>
    delay.count > 0 ? Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1_000) : 0;
  const values: Record<string, () => number> = {
    min: () => delay.min,
    mean: () => delay.mean,
    p50: () => delay.percentile(50),
    p90: () => delay.percentile(90),
    p99: () => delay.percentile(99),
    max: () => delay.max,
  };
  const last = Object.keys(values).at(-1);
  for (const [which, read] of Object.entries(values)) {
    new Gauge({
      name: `nodejs_eventloop_delay_${which}_seconds`,
      help: `Event loop delay since the last scrape (${which}).`,
      collect() {
        this.set(late(read()));
        if (which === last) delay.reset();
      },
    });
  }
}
