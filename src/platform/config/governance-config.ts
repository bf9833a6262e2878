import { Environment } from './environment';

/** Who may change what clients may do. */
export interface GovernanceConfig {
  /** Whether a change that lets a client do more waits for a second person. */
  readonly dualControl: boolean;
}

/** An installation with an embedded database is that of one person, who tries it. */
export function toGovernanceConfig(env: Environment): GovernanceConfig {
  return { dualControl: env.DUAL_CONTROL === undefined ? env.DATABASE_URL !== undefined : env.DUAL_CONTROL === 'true' };
}
