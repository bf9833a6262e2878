import { Config } from '../platform/config/config';
import { givenUpAfterMs, sendableForMs } from '../platform/config/upstream-timeouts';
import { Guards } from '../policy/admission';

/** How the guards are set, and how long what they decide holds. */
export interface GuardWindows {
  /** Whether the same content is looked for at all. */
  duplicates: boolean;
  /** For how long after its answer a call without a key is suspected when it comes again; seconds, 0: not at all. */
  duplicateSeconds: number;
  /** For how long a call may be without an outcome, in seconds. */
  inFlightSeconds: number;
  /** Within which the same payment of another client is noticed; seconds, 0: not at all. */
  acrossClientsSeconds: number;
  /** Past this age, milliseconds, a call that was admitted is not sent any more. */
  sendableForMs: number;
  /** For how long a held call may be approved, milliseconds. */
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

/** Which of the guards are on. */
export function guardsOf({ duplicates, duplicateSeconds, acrossClientsSeconds }: GuardWindows): Guards {
  return { duplicates, windowSeconds: duplicateSeconds, acrossClients: acrossClientsSeconds > 0 };
}
