import { GuardWindows } from '../../src/journal/guard-windows';

/** For tests that ask the journal to admit a call without the service that knows the settings. */
export const WINDOWS: GuardWindows = {
  duplicates: true,
  duplicateSeconds: 30,
  inFlightSeconds: 30,
  acrossClientsSeconds: 30,
  sendableForMs: 20_000,
};
