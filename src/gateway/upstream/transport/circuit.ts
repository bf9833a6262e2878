import { circuitBreaker, CircuitBreakerPolicy, CircuitState, handleWhenResult, SamplingBreaker } from 'cockatiel';
import { Answer, NOT_CONNECTED, notSent } from '../answers/answer';

/**
 * The circuit opens when more than half of at least 50 exchanges (10 s × 5/s) in ten seconds failed. Fewer prove
 * nothing. At low traffic, a few failures in a row must not disable an operation that mostly works.
 */
const SAMPLE = { threshold: 0.5, duration: 10_000, minimumRps: 5 };

/** Long enough to leave a failing upstream alone, and short enough to notice soon that it is back. */
const HALF_OPEN_AFTER_MS = 5_000;

/**
 * The failures that show that the upstream is unhealthy. Its own rejections do not, and neither do requests that never
 * left our queue.
 */
const SICK: ReadonlySet<Answer['failure']> = new Set([
  ...NOT_CONNECTED,
  ...(['timeout', 'reset', 'server_error'] as const),
]);

/**
 * Keeps the requests of one operation from an upstream that fails most of them. Every few seconds, one request is sent
 * as a probe.
 */
export class Circuit {
  private breaker: CircuitBreakerPolicy;
  private openedAt = 0;
  private open = false;
  /** The request that may be sent as the next probe. It is being admitted. */
  private probe: object | undefined;

  /** @param onChange is called when the circuit opens or closes. */
  constructor(private readonly onChange: (open: boolean) => void) {
    this.breaker = this.newBreaker();
  }

  /**
   * Returns the answer for a request that must not be sent now, with the seconds until one may be. Undefined if it may
   * be sent.
   * @param request once the circuit may be tried, the first one that asks is its probe. It is to be sent or given up. Without
   * a request, nothing becomes the probe.
   */
  refusal(request?: object): Answer | undefined {
    const { state } = this.breaker;
    // cockatiel's own way would let all other requests wait for the probe, however many they are.
    if (state === CircuitState.HalfOpen) return notSent('circuit_open', 1);
    if (state !== CircuitState.Open) return undefined;
    const waitMs = this.openedAt + HALF_OPEN_AFTER_MS - Date.now();
    if (waitMs > HALF_OPEN_AFTER_MS) return this.startOver();
    if (waitMs > 0) return notSent('circuit_open', Math.ceil(waitMs / 1_000));
    if (this.probe !== undefined && this.probe !== request) return notSent('circuit_open', 1);
    this.probe = request;
    return undefined;
  }

  /** The request is not sent, or was. Another one may be the next probe. */
  giveUp(request: object): void {
    if (this.probe === request) this.probe = undefined;
  }

  /** cockatiel goes by the wall clock. If that is set back, the circuit would stay open until it has caught up. */
  private startOver(): undefined {
    this.breaker = this.newBreaker();
    this.onChange((this.open = false));
  }

  /** A probe that was too late, or of a fenced instance, says nothing about the upstream. The next one has to. */
  private isUnsentProbe({ kind }: Answer): boolean {
    return this.breaker.state === CircuitState.HalfOpen && kind === 'not_sent';
  }

  private newBreaker(): CircuitBreakerPolicy {
    const breaker = circuitBreaker(
      handleWhenResult((answer) => isSick(answer as Answer) || this.isUnsentProbe(answer as Answer)),
      { breaker: new SamplingBreaker(SAMPLE), halfOpenAfter: HALF_OPEN_AFTER_MS },
    );
    breaker.onBreak(() => {
      this.openedAt = Date.now();
      if (!this.open) this.onChange((this.open = true));
    });
    breaker.onReset(() => this.onChange((this.open = false)));
    return breaker;
  }

  /** @param exchange never throws. */
  async run(request: object, exchange: () => Promise<Answer>): Promise<Answer> {
    return this.refusal(request) ?? this.breaker.execute(exchange).finally(() => this.giveUp(request));
  }
}

/** Whether an answer shows that the upstream is unhealthy. */
export function isSick({ failure, status }: Answer): boolean {
  return SICK.has(failure) && (status === null || status >= 500); // A 408 is a timeout that the upstream reports.
}
