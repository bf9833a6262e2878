import { readIntent, RecordedIntent, RecordedOutcome, readOutcome } from '../../journal/recorded-calls';
import { Prisma } from '../../platform/database/generated/client';
import { CurrentResolution, WITH_RESOLUTIONS, withCurrentResolution } from './resolutions';

/** The Prisma selection of a call's records. Bodies may be large, so it leaves them out. */
export const WITH_RECORDS = {
  body: { select: { people: true } },
  outcome: true,
  decision: true,
  ...WITH_RESOLUTIONS,
} as const satisfies Prisma.IntentInclude;

/** The same with the bodies. */
export const WITH_BODIES = {
  ...WITH_RECORDS,
  body: true,
  outcome: { include: { body: true } },
} as const satisfies Prisma.IntentInclude;

type Stored = Prisma.IntentGetPayload<{ include: typeof WITH_RECORDS }>;
type StoredWithBodies = Prisma.IntentGetPayload<{ include: typeof WITH_BODIES }>;

/** A body with its salt. */
export interface StoredBody {
  salt: Uint8Array;
  body: Uint8Array;
}

/** The records of a call. */
export interface IntentRow extends RecordedIntent {
  decision: Stored['decision'];
  outcome: RecordedOutcome | null;
  /** The resolution that is in effect. */
  resolution: CurrentResolution | null;
}

/** The records of a call with its bodies. */
export interface FullIntentRow extends IntentRow {
  body: StoredBody | null;
  outcome: (RecordedOutcome & { body: StoredBody | null }) | null;
}

export function toIntentRow(stored: Stored): IntentRow {
  const { record, body, outcome, decision, resolution } = withCurrentResolution(stored);
  return {
    ...readIntent(record, body?.people ?? null),
    decision,
    resolution,
    outcome: outcome && readOutcome(outcome.record),
  };
}

export function toFullIntentRow(stored: StoredWithBodies): FullIntentRow {
  const { body, outcome } = stored;
  const row = toIntentRow(stored);
  return {
    ...row,
    body: body && toBody(body),
    outcome: row.outcome && { ...row.outcome, body: outcome?.body ?? null },
  };
}

function toBody({ salt, body }: NonNullable<StoredWithBodies['body']>): StoredBody | null {
  return salt && body && { salt, body };
}
