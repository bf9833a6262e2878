import { Decimal } from 'decimal.js';
import { Author } from '../../access/auth/call';
import { NewEntry, NewSettlement } from '../../journal/records/records';
import { LedgerItem } from '../../journal/settlement/ledger';
import { hasDoubt, SettledCall } from '../../journal/settlement/settled-call';
import { readPayoutId } from '../../operations/catalogue/payout-id';
import { RESOLUTIONS } from '../../operations/lifecycle/lifecycle';
import { ENTRIES, Entry, expectedEntry, resolutionOf } from '../../operations/lifecycle/settlement';
import { Problem } from '../../platform/errors/problem';
import { ResolutionDto } from './own-calls.dto';
import { VerdictByHand } from './verdicts';

/**
 * Returns a person's settlement. Without `supersedes`, it covers only payouts in doubt. With it, the person
 * corrects the newest settlement, or the answer.
 * @returns a problem if the call is not in doubt, was settled in between, or would not change.
 */
export function settlementByHand(
  call: SettledCall,
  request: ResolutionDto,
  by: Author,
): NewSettlement | Problem {
  const supersedes = request.supersedes?.toLowerCase();
  if (supersedes === undefined ? !(call.isInDoubt || hasDoubt(call)) : !isOver(call)) return notInDoubt(call);
  if (supersedes !== undefined && supersedes !== call.version) return superseded(call);
  const chosen = chosenItems(call, request);
  if (chosen instanceof Problem) return chosen;
  const entry = toEntry(request.outcome, call);
  const entries = chosen
    .filter((item) => (supersedes === undefined ? !ENTRIES[item.entry].known : item.entry !== entry))
    .map(({ position, transaction }): NewEntry => ({
      position,
      entry,
      transaction: transaction ?? undefined,
    }));
  const settlement: NewSettlement = {
    intentId: call.intent.id,
    source: 'person',
    reason: request.reason,
    by,
    entries,
  };
  if (call.items.length === 0) return withResolution(settlement, call, request.outcome);
  if (entries.length > 0 || isAnswered(call, request.outcome)) return settlement;
  return supersedes === undefined ? notInDoubt(call) : unchanged(request.outcome);
}

/**
 * Returns the amount that a settlement gives back to the caps, in US dollars. Undefined if it gives back
 * neither an amount nor the key.
 */
export function givenBackBy({ entries, resolution }: NewSettlement, call: SettledCall): Decimal | undefined {
  const { intent, outcome, items } = call;
  if (items.length === 0)
    return resolution === 'not_executed' ? new Decimal(intent.total_usd ?? 0) : undefined;
  const last = new Map(entries.map(({ position, entry }) => [position, entry as Entry]));
  const after = items.map(({ position, entry }) => last.get(position) ?? entry);
  const freed = items.filter(
    ({ entry }, index) => ENTRIES[entry].counts && !ENTRIES[after[index] ?? entry].counts,
  );
  const freesKey =
    call.resolution !== 'not_executed' && resolutionOf(outcome?.kind ?? 'unknown', after) === 'not_executed';
  if (freed.length === 0 && !freesKey) return undefined;
  return freed.reduce((sum, { amountUsd, feeUsd }) => sum.plus(amountUsd ?? 0).plus(feeUsd), new Decimal(0));
}

/** Returns whether the call has an answer, or was settled without one. Only then may it be corrected. */
function isOver(call: SettledCall): boolean {
  const { outcome, number, state } = call;
  return (outcome !== null || number > 0) && state !== 'refused' && (state !== 'unknown' || isKnown(call));
}

/** Returns whether only the call as a whole is in doubt: an untrusted answer has all states of payouts. */
function isKnown(call: SettledCall): boolean {
  return call.state === 'unknown' && call.items.length > 0 && !hasDoubt(call);
}

/** Returns whether a person confirms such an answer: of the call as a whole, or of every payout. */
function isAnswered(call: SettledCall, outcome: VerdictByHand): boolean {
  if (!isKnown(call)) return false;
  const entries = call.items.map(({ entry }) => entry);
  return resolutionOf('unknown', entries) === outcome || entries.every((entry) => entry === outcome);
}

function chosenItems(call: SettledCall, { payouts }: ResolutionDto): LedgerItem[] | Problem {
  if (payouts === undefined) return call.items;
  const chosen = payouts.map((text) => {
    const id = readPayoutId(text);
    return id?.callId === call.intent.id ? call.items[id.position] : undefined;
  });
  const faults = chosen.flatMap((item, index) =>
    item ? [] : [{ pointer: `/payouts/${index}`, detail: 'must be the payout_id of a payout of this call' }],
  );
  return faults.length > 0
    ? new Problem('invalid_request', { faults })
    : chosen.filter((item) => item !== undefined);
}

function toEntry(outcome: VerdictByHand, { intent }: SettledCall): Entry {
  return outcome === 'confirmed' ? expectedEntry(intent.operation) : outcome;
}

/** Settles a call as a whole, if its items are no payouts. */
function withResolution(
  settlement: NewSettlement,
  call: SettledCall,
  outcome: VerdictByHand,
): NewSettlement | Problem {
  const resolution = RESOLUTIONS.find((word) => word === outcome);
  if (resolution === undefined) {
    const detail = `must be one of ${RESOLUTIONS.join(', ')}, because this call has no payouts`;
    return new Problem('invalid_request', { faults: [{ pointer: '/outcome', detail }] });
  }
  return resolution === call.resolution ? unchanged(outcome) : { ...settlement, resolution };
}

function unchanged(outcome: VerdictByHand): Problem {
  const detail = `must differ from ${outcome}, which is already the outcome of the payouts`;
  return new Problem('invalid_request', { faults: [{ pointer: '/outcome', detail }] });
}

function notInDoubt({ state, version, number, outcome }: SettledCall): Problem {
  if (number === 0 && outcome === null) return new Problem('not_in_doubt');
  const text = `The call is ${state}. To correct its records, send "supersedes": "${version}".`;
  return new Problem('not_in_doubt', { text });
}

function superseded({ version, state }: SettledCall): Problem {
  const text = `Settlement ${version} has made the call ${state}. Nothing was changed. Read the call again.`;
  return new Problem('resolution_superseded', { text });
}
