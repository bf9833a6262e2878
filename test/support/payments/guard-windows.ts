import { INestApplicationContext } from '@nestjs/common';
import { GuardWindows, Admission, AdmissionRules } from '../../../src/journal/admission/admission-rules';
import { ExpectedFees } from '../../../src/journal/admission/expected-fees';

/** Windows for tests of the journal without the service that reads the settings. */
export const WINDOWS: GuardWindows = {
  duplicates: true,
  duplicateSeconds: 30,
  inFlightSeconds: 30,
  acrossClientsSeconds: 30,
  sendableForMs: 20_000,
  approvableForMs: 86_400_000,
  queuedForMs: 86_400_000,
};

/** Returns the rules of an application, with its expected fees. */
export function rulesOf(app: Pick<INestApplicationContext, 'get'>, windows = WINDOWS): AdmissionRules {
  return { windows, fees: app.get(ExpectedFees, { strict: false }) };
}

/** Returns the same admission for another call. */
export function withId({ request, intent }: Admission, id: string): Admission {
  return { request: { ...request, id }, intent: { ...intent, id } };
}
