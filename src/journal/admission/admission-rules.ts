import { FeeRule } from '../../operations/items/fees';
import { Config } from '../../platform/config/config';
import { givenUpAfterMs, sendableForMs } from '../../platform/config/upstream/upstream-timeouts';
import { commitment, newSalt } from '../../platform/privacy/commitment';
import { AdmissionRequest, Guards, OpenRuling, Ruling } from '../../policy/admission';
import { IntentRow } from '../records/intents';
import { claimKey, ClaimedKey, NewIntent, OpenIntent, Release } from '../records/records';
import { contentKey, paymentKeys } from './content-keys';
import { ExpectedFees } from './expected-fees';

/** The settings that the state of admission depends on. */
export interface StateWindows {
  /** Whether the duplicate guard is on. */
  duplicates: boolean;
  /** How long an answered call without a key suspects a repetition, in seconds. 0 disables it. */
  duplicateSeconds: number;
  /** Longest time a call may lack an outcome, in seconds. */
  inFlightSeconds: number;
  /** How long a payment suspects the same payment of another client, in seconds. 0 disables it. */
  acrossClientsSeconds: number;
}

/** The settings of the guards. */
export interface GuardWindows extends StateWindows {
  /** The age after which an admitted call is not sent any more, in milliseconds. */
  sendableForMs: number;
  /** Approval window of a held call, in milliseconds. */
  approvableForMs: number;
  /** The age after which a queued call is not sent any more, in milliseconds. */
  queuedForMs: number;
}

type Settings = Pick<
  Config,
  | 'duplicateGuard'
  | 'duplicateWindowSeconds'
  | 'duplicateAcrossClientsSeconds'
  | 'approvalExpiresAfterSeconds'
  | 'queueExpiresAfterSeconds'
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
    queuedForMs: settings.queueExpiresAfterSeconds * 1_000,
  };
}

/** Returns the enabled guards. */
export function guardsOf({ duplicates, duplicateSeconds, acrossClientsSeconds }: StateWindows): Guards {
  return { duplicates, windowSeconds: duplicateSeconds, acrossClients: acrossClientsSeconds > 0 };
}

/** A request, and the intent to record if it is admitted or held. */
export interface Admission {
  request: AdmissionRequest;
  intent: NewIntent;
}

/** The inputs of a decision, besides the records. */
export interface AdmissionRules {
  windows: GuardWindows;
  fees: ExpectedFees;
}

/** The decision about a call. A `released` call is to be sent now, and a `queued` one in its turn. */
export type AdmissionResult =
  | Exclude<Ruling, { kind: 'admitted' }>
  /** Includes the fee to reserve for each payout. Null if no fee is expected. */
  | { kind: 'released'; release: Release; feeRule: FeeRule | null }
  | { kind: 'queued' }
  /** The key is no longer valid, or its client's rights have changed since the lookup. */
  | { kind: 'caller_changed' };

/** The decisions about the calls of a batch, and the records of those that were opened. */
export interface AdmittedBatch {
  results: AdmissionResult[];
  opened: IntentRow[];
}

export function isOpen(ruling: Ruling | undefined): ruling is OpenRuling {
  return ruling?.kind === 'admitted' || ruling?.kind === 'held';
}

/** Returns the records of calls that may be sent, now or after an approval. */
export function toOpened(
  admissions: Admission[],
  rulings: Ruling[],
  { today, process, rules: { windows, fees } }: { today: string; process: number; rules: AdmissionRules },
): OpenIntent[] {
  return admissions.flatMap(({ request, intent }, place) => {
    const ruling = rulings[place];
    if (!isOpen(ruling)) return [];
    const held = ruling.kind === 'held';
    const { usd, items, payments } = request;
    return {
      process,
      key: claimOf(request),
      duplicateOf: ruling.duplicateOf ?? null,
      heldFor: held ? ruling.heldFor : null,
      unexplainedTransaction: held ? (ruling.transaction ?? null) : null,
      earlierCallId: held ? (ruling.earlierCallId ?? null) : null,
      expiresAt: expiryOf(intent, held, windows),
      feeRule: fees.reservedWith(request),
      reservedOn: held || usd === null ? null : today,
      contents: [
        ...(windows.duplicates ? [contentKey(request)] : []),
        ...(windows.acrossClientsSeconds > 0 && usd !== null ? paymentKeys(items) : []),
      ],
      payments,
      ...intent, // Last, because V8 creates a shape for each object whose members follow a spread.
    };
  });
}

/** Returns the expiry of a call that waits for its approval or its turn. Null for a call to send now. */
function expiryOf(
  { respondAsync, receivedAt }: NewIntent,
  held: boolean,
  { approvableForMs, queuedForMs }: GuardWindows,
): Date | null {
  if (!held && !respondAsync) return null;
  return new Date(receivedAt.getTime() + (held ? approvableForMs : queuedForMs));
}

function claimOf({ endUserId, idempotencyKey: text, content }: AdmissionRequest): ClaimedKey | null {
  if (text === null) return null;
  const salt = newSalt();
  return { text, claimed: claimKey(endUserId, text), salt, contentHash: commitment(salt, content) };
}

/** Returns the results of rulings. Calls to send now have this release. */
export function toResults(rulings: Ruling[], opened: IntentRow[], release: Release): AdmissionResult[] {
  const records = opened.values(); // One row per admitted or held call, in their order.
  return rulings.map((ruling) => {
    const record = isOpen(ruling) ? records.next().value : undefined;
    if (ruling.kind !== 'admitted') return ruling;
    const { expiresAt, feeRule = null } = record?.intent ?? {};
    return expiresAt ? { kind: 'queued' } : { kind: 'released', release, feeRule };
  });
}
