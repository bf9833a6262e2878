import { collectDefaultMetrics, Gauge, register } from 'prom-client';
import { BUILD } from '../../platform/build';
import { measureEventLoop } from './event-loop';

/** prom-client's own monitor of the event loop samples this rarely, because `measureEventLoop` replaces it. */
const NEVER_MS = 1_000_000_000;

/**
 * Measures the process: its memory, its CPU time, its event loop and its build. Once per process, however many apps it
 * serves, because timers and observers cannot be removed.
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
