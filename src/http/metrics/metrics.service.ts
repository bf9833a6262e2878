import { Injectable } from '@nestjs/common';
import { FastifyInstance, FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram, register, Registry } from 'prom-client';
import { Call } from '../../access/auth/call';
import { measureProcess } from './process-metrics';

/** A value of a gauge, and its labels. */
export interface LabeledValue {
  labels: Record<string, string>;
  value: number;
}

/** The value of a gauge, or those of its labels. */
type GaugeReading = number | LabeledValue[] | undefined;

/** Bucket bounds from a rejection to the upstream's slowest batch, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Counts and times requests. Labels are names from our own code, never a caller's words. */
@Injectable()
export class MetricsService {
  /** Other services add their own metrics here. */
  readonly registry = new Registry();

  // OpenTelemetry's semantic conventions for HTTP, in Prometheus' spelling.
  private readonly served = this.histogram(
    'http_server_request_duration_seconds',
    'Time from the first byte of a request to the last byte of its response.',
    ['http_request_method', 'http_route', 'http_response_status_code'],
    BUCKETS,
  );
  private readonly sent = this.histogram(
    'http_client_request_duration_seconds',
    'Time from sending a request to the upstream to its complete answer.',
    ['operation'],
    BUCKETS,
  );
  private readonly calls = this.counter(
    'payout_proxy_calls_total',
    'Recorded calls, by operation and outcome.',
    ['operation', 'outcome'],
  );
  private readonly unauthenticated = this.counter(
    'payout_proxy_unauthenticated_requests_total',
    'Requests without a valid key. They are not recorded.',
  );
  readonly problems = this.counter(
    'payout_proxy_problems_total',
    'Requests that the proxy rejected or failed to carry out, by code, recorded or not. ' +
      'payout_proxy_calls_total counts the outcomes of the other requests.',
    ['code'],
  );
  readonly newShapes = this.counter(
    'payout_proxy_new_answer_shapes_total',
    'Upstream answers whose structure was new to every instance. GET /v1/audit/shapes lists the structures.',
    ['operation'],
  );
  readonly unlistedShapes = this.counter(
    'payout_proxy_unlisted_answer_shapes_total',
    'Upstream answers whose new structure is not listed, because the operation has too many.',
    ['operation'],
  );
  readonly droppedCopies = this.counter(
    'payout_proxy_copies_dropped_total',
    'Copies of committed records that were dropped, because DATA_DIR took none for too long. database ' +
      'recover cannot restore these records.',
  );
  readonly droppedRefusals = this.counter(
    'payout_proxy_refusals_dropped_total',
    'Rejected requests that are not recorded, because the database took no writes and too many were waiting.',
  );
  readonly shedRequests = this.counter(
    'payout_proxy_shed_requests_total',
    'Requests rejected before anything was written about them, because too many others were waiting or ' +
      'they waited too long.',
    ['operation'],
  );
  readonly openCircuits = new Gauge({
    name: 'payout_proxy_upstream_circuit_open',
    help:
      '1 while the circuit breaker of an operation of an account is open: the upstream fails most of its ' +
      'requests, and only probes are sent.',
    labelNames: ['account', 'operation'],
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

  /** Adds a counter. */
  counter<Label extends string = never>(
    name: string,
    help: string,
    labelNames: Label[] = [],
  ): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** Adds a histogram of durations, in seconds. */
  histogram<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    buckets: number[],
  ): Histogram<Label> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }

  async text(): Promise<{ contentType: string; body: string }> {
    const all = Registry.merge([register, this.registry]);
    return { contentType: all.contentType, body: await all.metrics() };
  }

  /**
   * Adds a gauge.
   * @param read is called at each scrape. It returns undefined while there is no value.
   */
  watch(
    name: string,
    help: string,
    read: () => GaugeReading | Promise<GaugeReading>,
    labelNames: string[] = [],
  ): void {
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

  /** Counts the outcome of a call: at its answer, or at the end of a call by the proxy itself. */
  count({ operation, outcome, timings }: Call): void {
    if (outcome !== undefined) this.calls.inc({ operation, outcome });
    if (timings.upstream !== undefined) this.sent.observe({ operation }, timings.upstream / 1_000);
  }
}
