import { commitment } from '../../journal/commitment';
import { IntentDocument, OutcomeDocument, PersonDocument, SettlementDocument } from '../../journal/documents';
import { LedgerItem, ledgerOf } from '../../journal/ledger';
import { RecordedCall } from '../../operations/lifecycle';
import { ENTRIES } from '../../operations/settlement';
import { Prisma } from '../../platform/database/generated/client';
import { resolutionIn, toSettlements, WITH_SETTLEMENTS } from './settlements';

/** The Prisma selection of a call's records. Bodies may be large, so it leaves them out. */
export const RECORDS = {
  record: true,
  body: { select: { people: true } },
  outcome: { select: { record: true } },
  decision: true,
  ...WITH_SETTLEMENTS,
} as const satisfies Prisma.IntentSelect;

/** The same with the bodies. */
export const RECORDS_AND_BODIES = {
  ...RECORDS,
  body: true,
  outcome: { select: { record: true, body: true } },
} as const satisfies Prisma.IntentSelect;

type Stored = Prisma.IntentGetPayload<{ select: typeof RECORDS }>;
type StoredWithBodies = Prisma.IntentGetPayload<{ select: typeof RECORDS_AND_BODIES }>;

/** A body with its salt. */
export interface StoredBody {
  salt: Uint8Array;
  body: Uint8Array;
}

/** The records of a call. */
export interface StoredCall {
  intent: IntentDocument;
  /** The people in its items. Erased people are missing. */
  people: PersonDocument[];
  outcome: OutcomeDocument | null;
  decision: Stored['decision'];
  /** Oldest first. */
  settlements: SettlementDocument[];
  /** Its payouts. Empty if its items are no payouts. */
  payouts: LedgerItem[];
  /** What its state follows from. */
  lifecycle: RecordedCall;
}

/** The records of a call with its bodies. */
export interface FullStoredCall extends StoredCall {
  body: StoredBody | null;
  /** The body of the answer. */
  answer: StoredBody | null;
}

export function toStoredCall(stored: Stored): StoredCall {
  const { decision } = stored;
  const settlements = toSettlements(stored.settlements);
  const intent = JSON.parse(stored.record) as IntentDocument;
  const people = JSON.parse(stored.body?.people ?? '[]') as PersonDocument[];
  const outcome = stored.outcome && (JSON.parse(stored.outcome.record) as OutcomeDocument);
  const lifecycle = lifecycleOf(intent, outcome, decision, resolutionIn(settlements));
  const payouts = ledgerOf({ intent, outcome, settlements });
  return { intent, people, outcome, decision, settlements, payouts, lifecycle };
}

export function toFullStoredCall(stored: StoredWithBodies): FullStoredCall {
  const { salt = null, body = null } = stored.body ?? {};
  return { ...toStoredCall(stored), body: salt && body && { salt, body }, answer: stored.outcome?.body ?? null };
}

/** Returns whether a payout of an answered call is in doubt. */
export function hasPayoutInDoubt({ outcome, payouts }: StoredCall): boolean {
  return outcome !== null && payouts.some(({ entry }) => !ENTRIES[entry].known);
}

/** Returns what the state of a call follows from. */
export function lifecycleOf(
  intent: IntentDocument,
  outcome: OutcomeDocument | null,
  decision: RecordedCall['decision'],
  resolution: RecordedCall['resolution'],
): RecordedCall {
  return {
    recordedAt: new Date(intent.recorded_at),
    process: intent.process,
    heldFor: intent.held_for ?? null,
    expiresAt: intent.expires_at === undefined ? null : new Date(intent.expires_at),
    outcome: outcome && { kind: outcome.kind, answeredAt: new Date(outcome.answered_at) },
    decision,
    resolution,
  };
}

/** Returns people or transactions by the position of their item. */
export function byPosition<Entry extends { position?: number | undefined }>(
  entries: Entry[] = [],
): Map<number | undefined, Entry> {
  return new Map(entries.map((entry) => [entry.position, entry]));
}

/** Returns the commitment of a stored body, as its record states it. */
export function commitmentOf(stored: StoredBody | null): string | undefined {
  return stored ? commitment(Buffer.from(stored.salt), Buffer.from(stored.body))?.toString('hex') : undefined;
}
