import { Config } from '../platform/config/config';
import { givenUpAfterMs, sendableForMs } from '../platform/config/upstream-timeouts';
import { Guards } from '../policy/admission';

/** The settings that the state of admission depends on. */
export interface StateWindows {
  /** Whether the same content is detected. */
  duplicates: boolean;
  /** How long after its answer a call without a key is suspected when it is repeated, in seconds. 0 disables it. */
  duplicateSeconds: number;
  /** How long a call may be without an outcome, in seconds. */
  inFlightSeconds: number;
  /** How long the same payment of another client is detected, in seconds. 0 disables it. */
  acrossClientsSeconds: number;
}

/** The settings of the guards. */
export interface GuardWindows extends StateWindows {
  /** The age from which an admitted call is not sent any more, in milliseconds. */
  sendableForMs: number;
  /** How long a held call may be approved, in milliseconds. */
  approvableForMs: number;
}

type Settings = Pick<
  Config,
  | 'duplicateGuard'
  | 'duplicateWindowSeconds'
  | 'duplicateAcrossClientsSeconds'
  | 'approvalExpiresAfterSeconds'
  | 'upstreamTimeoutMs'
  | 'upstreamTimeouts'
>;

export function guardWindows(settings: Settings): GuardWindows {
  return {
    duplicates: settings.duplicateGuard,
    duplicateSeconds: settings.duplicateWindowSeconds,
    inFlightSeconds: givenUpAfterMs(settings) / 1_000,
    acrossClientsSeconds: settings.duplicateAcrossClientsSeconds,
    sendableForMs: sendableForMs(settings),
    approvableForMs: settings.approvalExpiresAfterSeconds * 1_000,
  };
}

/** Returns which of the guards are on. */
export function guardsOf({ duplicates, duplicateSeconds, acrossClientsSeconds }: StateWindows): Guards {
  return { duplicates, windowSeconds: duplicateSeconds, acrossClients: acrossClientsSeconds > 0 };
}
