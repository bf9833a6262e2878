import { Injectable } from '@nestjs/common';
import { FastifyInstance, FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram, register, Registry } from 'prom-client';
import { Call } from '../../access/auth/call';
import { measureProcess } from './process-metrics';

/** The places of one upstream account, and who waits for one. */
interface GateState {
  account: string;
  waiting: number;
  inUse: number;
  admissionLimit: number;
}

/** A value of a gauge, and its labels. */
export interface Measured {
  labels: Record<string, string>;
  value: number;
}

/** The value of a gauge, or those of its labels. */
type Reading = number | Measured[] | undefined;

/** From a rejection to the upstream's slowest batch, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Counts and times requests. Labels are names from our own code, never a caller's words. */
@Injectable()
export class MetricsService {
  /** Other services add their own metrics here. */
  readonly registry = new Registry();

  // OpenTelemetry's semantic conventions for HTTP, in Prometheus' spelling.
  private readonly served = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the first byte of a request to the last byte of its response.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
    buckets: BUCKETS,
    registers: [this.registry],
  });
  private readonly sent = new Histogram({
    name: 'http_client_request_duration_seconds',
    help: 'Time from sending a request to the upstream to its complete answer.',
    labelNames: ['operation'],
    buckets: BUCKETS,
    registers: [this.registry],
  });
  private readonly calls = new Counter({
    name: 'payout_proxy_calls_total',
    help: 'Recorded calls, by operation and outcome.',
    labelNames: ['operation', 'outcome'],
    registers: [this.registry],
  });
  private readonly unauthenticated = new Counter({
    name: 'payout_proxy_unauthenticated_requests_total',
    help: 'Requests without a valid key. They are not recorded.',
    registers: [this.registry],
  });
  private readonly problems = new Counter({
    name: 'payout_proxy_problems_total',
    help: 'Requests that the proxy rejected or failed to carry out, by code, recorded or not. payout_proxy_calls_total counts the outcomes of the other requests.',
    labelNames: ['code'],
    registers: [this.registry],
  });
  private readonly newShapes = new Counter({
    name: 'payout_proxy_new_answer_shapes_total',
    help: 'Upstream answers whose structure was new to every instance. GET /v1/audit/shapes lists the structures.',
    labelNames: ['operation'],
    registers: [this.registry],
  });
  private readonly unlistedShapes = new Counter({
    name: 'payout_proxy_unlisted_answer_shapes_total',
    help: 'Upstream answers whose new structure is not listed, because the operation has too many.',
    labelNames: ['operation'],
    registers: [this.registry],
  });
  private readonly droppedCopies = new Counter({
    name: 'payout_proxy_copies_dropped_total',
    help: 'Copies of committed records that were dropped, because DATA_DIR took none for too long. database recover cannot restore these records.',
    registers: [this.registry],
  });
  private readonly droppedRefusals = new Counter({
    name: 'payout_proxy_refusals_dropped_total',
    help: 'Rejected requests that are not recorded, because the database took no writes and too many were waiting.',
    registers: [this.registry],
  });
  private readonly circuitOpen = new Gauge({
    name: 'payout_proxy_upstream_circuit_open',
    help: '1 while the circuit breaker of an operation of an account is open: the upstream fails most of its requests, and only probes are sent.',
    labelNames: ['account', 'operation'],
    registers: [this.registry],
  });
  private readonly shed = new Counter({
    name: 'payout_proxy_shed_requests_total',
    help: 'Requests rejected before anything was written about them, because too many others were waiting or they waited too long.',
    labelNames: ['operation'],
    registers: [this.registry],
  });

  constructor() {
    measureProcess();
  }

  /** Measures every answered request of a server. */
  observe(server: FastifyInstance): void {
    server.addHook('onResponse', (request, reply, done) => {
      this.note(request, reply.statusCode, reply.elapsedTime / 1_000);
      done();
    });
  }

  countProblem(code: string): void {
    this.problems.inc({ code });
  }

  countNewShape(operation: string): void {
    this.newShapes.inc({ operation });
  }

  countUnlistedShape(operation: string): void {
    this.unlistedShapes.inc({ operation });
  }

  countShed(operation: string): void {
    this.shed.inc({ operation });
  }

  setCircuitOpen(account: string, operation: string, open: boolean): void {
    this.circuitOpen.set({ account, operation }, open ? 1 : 0);
  }

  /** @param read is called at each scrape. */
  watchGates(read: () => GateState[]): void {
    const watch = (name: string, help: string, valueOf: (gate: GateState) => number) => {
      const measure = () => read().map((gate) => ({ labels: { account: gate.account }, value: valueOf(gate) }));
      this.watch(name, help, measure, ['account']);
    };
    watch(
      'payout_proxy_waiting_requests',
      'Requests that wait for a place to be admitted and sent.',
      ({ waiting }) => waiting,
    );
    watch(
      'payout_proxy_places_in_use',
      'Requests that are being admitted or answered by the upstream. At most UPSTREAM_CONNECTIONS for each account.',
      ({ inUse }) => inUse,
    );
    watch(
      'payout_proxy_admission_limit',
      'The most requests that wait for the database at the same time. It falls while the database is slow or fails.',
      ({ admissionLimit }) => admissionLimit,
    );
  }

  /** @param count is called at each scrape. */
  watchSpooledOutcomes(count: () => number): void {
    this.watch(
      'payout_proxy_spooled_outcomes',
      'Outcomes on the disk of this instance that are not yet recorded in the database.',
      count,
    );
  }

  countDroppedRefusal(): void {
    this.droppedRefusals.inc();
  }

  /** @param waitingBytes is called at each scrape. */
  watchWaitingCopies(waitingBytes: () => number): void {
    this.watch(
      'payout_proxy_copies_waiting_bytes',
      'Copies of committed records that DATA_DIR has not taken yet. Past 64 MiB, the oldest are dropped.',
      waitingBytes,
    );
  }

  /** @param lines of copies that could not be kept. */
  noteDroppedCopies(lines: number): void {
    this.droppedCopies.inc(lines);
  }

  /** @param progress is called at each scrape. */
  watchSearchIndex(progress: () => number): void {
    this.watch(
      'payout_proxy_search_index_progress',
      'How much of the search index is there, from 0 to 1. Below 1, it is being rebuilt after a crash or a failover, and searches get 503.',
      progress,
    );
  }

  /** @param read is called at each scrape. It returns undefined while another process seals. */
  watchLog(read: () => { size: number; lagSeconds: number; failing: boolean } | undefined): void {
    this.watch('payout_proxy_log_leaves', 'Records sealed in the log.', () => read()?.size);
    this.watch(
      'payout_proxy_log_lag_seconds',
      'Seconds that the oldest unsealed record has waited to be sealed.',
      () => read()?.lagSeconds,
    );
    this.watch(
      'payout_proxy_log_failing',
      '1 while this worker cannot seal records, or refuses to because the log differs from what was signed. Its log lines state the reason.',
      () => {
        const log = read();
        return log && (log.failing ? 1 : 0);
      },
    );
  }

  async text(): Promise<{ contentType: string; body: string }> {
    const all = Registry.merge([register, this.registry]);
    return { contentType: all.contentType, body: await all.metrics() };
  }

  /**
   * Adds a gauge.
   * @param read is called at each scrape. It returns undefined while there is no value.
   */
  watch(name: string, help: string, read: () => Reading | Promise<Reading>, labelNames: string[] = []): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.registry],
      async collect() {
        const reading = await read();
        this.reset();
        if (labelNames.length === 0) this.remove(); // a reset gauge without labels is 0
        const measured = typeof reading === 'number' ? [{ labels: {}, value: reading }] : (reading ?? []);
        for (const { labels, value } of measured) this.set(labels, value);
      },
    });
  }

  private note({ call, method, routeOptions }: FastifyRequest, status: number, seconds: number): void {
    const route = routeOptions.url ?? '(no route)';
    this.served.observe(
      { http_request_method: method, http_route: route, http_response_status_code: String(status) },
      seconds,
    );
    if (status === 401) this.unauthenticated.inc();
    this.count(call);
  }

  /** Counts the outcome of a call: at its answer, or at the end of a call that the proxy made by itself. */
  count({ operation, outcome, timings }: Call): void {
    if (outcome !== undefined) this.calls.inc({ operation, outcome });
    if (timings.upstream !== undefined) this.sent.observe({ operation }, timings.upstream / 1_000);
  }
}
