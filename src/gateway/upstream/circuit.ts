import { circuitBreaker, CircuitBreakerPolicy, CircuitState, handleWhenResult, SamplingBreaker } from 'cockatiel';
import { Answer, NOT_CONNECTED, notSent } from './answer';

/**
 * It opens when more than half of at least 50 exchanges (10 s × 5/s) of some ten seconds failed. Fewer prove nothing: at
 * low traffic, a few failures in a row must not take an operation away that mostly works.
 */
const SAMPLE = { threshold: 0.5, duration: 10_000, minimumRps: 5 };

/** Long enough that an upstream which falls over is left alone, short enough that nobody waits long for one that is back. */
const HALF_OPEN_AFTER_MS = 5_000;

/** Failures that say the upstream is ill. A refusal in its own words does not, nor does what never left our queue. */
const SICK: ReadonlySet<Answer['failure']> = new Set([
  ...NOT_CONNECTED,
  ...(['timeout', 'reset', 'server_error'] as const),
]);

/** Keeps the requests of one operation from an upstream that fails most of them; every few seconds one goes to see. */
export class Circuit {
  private readonly breaker: CircuitBreakerPolicy;
  private openedAt = 0;
  private open = false;

  /** @param onChange hears when it opens and when it closes. */
  constructor(onChange: (open: boolean) => void) {
    this.breaker = circuitBreaker(
      handleWhenResult((answer) => isSick(answer as Answer)),
      { breaker: new SamplingBreaker(SAMPLE), halfOpenAfter: HALF_OPEN_AFTER_MS },
    );
    this.breaker.onBreak(() => {
      this.openedAt = Date.now();
      if (!this.open) onChange((this.open = true));
    });
    this.breaker.onReset(() => onChange((this.open = false)));
  }

  /** The answer for a request that must not be sent now, with the seconds until one may; undefined: it may. */
  refusal(): Answer | undefined {
    const { state } = this.breaker;
    // Not cockatiel's way, which lets all others wait for the one that goes to see, however many they are.
    if (state === CircuitState.HalfOpen) return notSent('circuit_open', 1);
    const waitMs = this.openedAt + HALF_OPEN_AFTER_MS - Date.now();
    return state === CircuitState.Open && waitMs > 0 ? notSent('circuit_open', Math.ceil(waitMs / 1_000)) : undefined;
  }

  /** @param exchange never throws. */
  async run(exchange: () => Promise<Answer>): Promise<Answer> {
    return this.refusal() ?? this.breaker.execute(exchange);
  }
}

/** Whether it says that the upstream is ill. */
export function isSick({ failure, status }: Answer): boolean {
  return SICK.has(failure) && (status === null || status >= 500); // a 408 is a time-out in the upstream's own words
}
