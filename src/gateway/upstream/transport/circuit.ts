import {
  circuitBreaker,
  CircuitBreakerPolicy,
  CircuitState,
  handleWhenResult,
  SamplingBreaker,
} from 'cockatiel';
import { Answer, NOT_CONNECTED, notSent } from '../answers/answer';

/**
 * The circuit opens when more than half of at least 50 exchanges (10 s × 5/s) in ten seconds failed. Fewer
 * prove nothing. At low traffic, a few failures in a row must not disable an operation that mostly works.
 */
const SAMPLE = { threshold: 0.5, duration: 10_000, minimumRps: 5 };

/** Pause before a probe: spares a failing upstream, and notices its return soon. */
const HALF_OPEN_AFTER_MS = 5_000;

/**
 * Failures that show an unhealthy upstream, without its rejections and requests that never left our queue.
 */
const UNHEALTHY: ReadonlySet<Answer['failure']> = new Set([
  ...NOT_CONNECTED,
  ...(['timeout', 'reset', 'server_error'] as const),
]);

/** Circuit breaker of one operation. While it is open, one request every few seconds is sent as a probe. */
export class Circuit {
  private breaker: CircuitBreakerPolicy;
  private openedAt = 0;
  private open = false;
  /** The request that may be sent as the next probe, during its admission. */
  private probe: object | undefined;

  /** @param onChange is called when the circuit opens or closes. */
  constructor(private readonly onChange: (open: boolean) => void) {
    this.breaker = this.newBreaker();
  }

  /**
   * Returns the answer for a request that must not be sent now, with the seconds until one may be. Undefined
   * if it may.
   * @param request the first request after the pause becomes the probe. Send it or give it up. Without a
   * request, there is no probe.
   */
  refusal(request?: object): Answer | undefined {
    const { state } = this.breaker;
    // cockatiel would make all other requests wait for the probe, without a limit.
    if (state === CircuitState.HalfOpen) return notSent('circuit_open', 1);
    if (state !== CircuitState.Open) return undefined;
    const waitMs = this.openedAt + HALF_OPEN_AFTER_MS - Date.now();
    if (waitMs > HALF_OPEN_AFTER_MS) return this.startOver();
    if (waitMs > 0) return notSent('circuit_open', Math.ceil(waitMs / 1_000));
    if (this.probe !== undefined && this.probe !== request) return notSent('circuit_open', 1);
    this.probe = request;
    return undefined;
  }

  /** Releases the role of the probe for another request. */
  giveUp(request: object): void {
    if (this.probe === request) this.probe = undefined;
  }

  /**
   * cockatiel uses the wall clock. If the clock is set back, the circuit stays open until it has caught up.
   */
  private startOver(): undefined {
    this.breaker = this.newBreaker();
    this.onChange((this.open = false));
  }

  /** A probe that was too late, or on a fenced instance, proves nothing about the upstream. Probe again. */
  private isUnsentProbe({ kind }: Answer): boolean {
    return this.breaker.state === CircuitState.HalfOpen && kind === 'not_sent';
  }

  private newBreaker(): CircuitBreakerPolicy {
    const breaker = circuitBreaker(
      handleWhenResult((answer) => isUnhealthy(answer as Answer) || this.isUnsentProbe(answer as Answer)),
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
export function isUnhealthy({ failure, status }: Answer): boolean {
  // A 408 is a timeout reported by the upstream.
  return UNHEALTHY.has(failure) && (status === null || status >= 500);
}
