import { Environment } from './environment';
import { Secret } from './secret';

/** The service that judges recipients before they are paid. */
export interface ScreeningConfig {
  /** Undefined asks nobody. */
  readonly screeningUrl: string | undefined;
  /** The secret that signs requests to it. */
  readonly screeningSecret: Secret | undefined;
  readonly screeningTimeoutMs: number;
}

export function toScreeningConfig(env: Environment): ScreeningConfig {
  return {
    screeningUrl: env.SCREENING_URL,
    screeningSecret: env.SCREENING_SECRET === undefined ? undefined : new Secret(env.SCREENING_SECRET),
    screeningTimeoutMs: env.SCREENING_TIMEOUT_MS,
  };
}
