import { SettledCall } from '../../journal/settlement/settled-call';
import { PayoutPlace, payoutIdOf } from '../../operations/catalogue/payout-id';
import { CREATED_BY } from '../../operations/items/effects';
import { STATES } from '../../operations/lifecycle/lifecycle';
import { Fault } from '../../platform/errors/problem';
import { Ground, GROUNDS } from '../book/pairing/grounds';
import { AttributionFacts, AttributionRequest } from './attribution-facts';

/** A reason why a person must not attribute a transaction to a payout. */
interface Obstacle {
  pointer: string;
  holds: (facts: AttributionFacts, call: SettledCall, request: AttributionRequest) => boolean;
  detail: (facts: AttributionFacts, request: AttributionRequest) => string;
}

const isPlace = (one: PayoutPlace, { callId, position }: PayoutPlace) =>
  one.callId === callId && one.position === position;

/** The payout of the transaction, if it is another one. */
const otherOwner = ({ owner }: AttributionFacts, request: AttributionRequest) =>
  owner && !isPlace(owner, request) ? owner : null;

/** A person may correct another person, and a rule that matches what is alike. */
const mayLose = (ground: Ground) => GROUNDS[ground] !== GROUNDS.answer;

/** The payouts whose attributions end. */
function superseded(facts: AttributionFacts, request: AttributionRequest): PayoutPlace[] {
  const owner = otherOwner(facts, request);
  return [...(facts.own ? [request] : []), ...(owner ? [owner] : [])];
}

const isNamed = ({ supersedes }: AttributionRequest, place: PayoutPlace) =>
  supersedes.some((one) => isPlace(one, place));

const OBSTACLES: readonly Obstacle[] = [
  {
    pointer: '/payout_id',
    holds: (_, { intent, items }, { position }) => !items[position] || !CREATED_BY.has(intent.operation),
    detail: () => 'must be a payout of a call whose operation creates transactions',
  },
  {
    pointer: '/payout_id',
    holds: (_, { state }) => !STATES[state].arrived,
    detail: () => 'must be a payout that was sent to the upstream',
  },
  {
    pointer: '/payout_id',
    holds: (_, { outcome, isInDoubt, state }) => STATES[state].arrived && !outcome && !isInDoubt,
    detail: () => 'must be a payout whose answer is no longer awaited; wait for the outcome of the call',
  },
  {
    pointer: '/transaction_id',
    holds: ({ isOfAccount }) => !isOfAccount,
    detail: () => 'must be a transaction of the upstream account of the payout',
  },
  {
    pointer: '/transaction_id',
    holds: ({ isShown, own, id }) => !isShown && own?.id !== id,
    detail: () =>
      'must be known by its listing, because an answer shows no recipient; try again after the next poll',
  },
  {
    pointer: '/transaction_id',
    holds: ({ flow }) => flow !== null,
    detail: ({ flow }) => `must be a payment; this one is of the kind ${flow}`,
  },
  {
    pointer: '/transaction_id',
    holds: ({ hasAnotherRecipient }) => hasAnotherRecipient,
    detail: () => 'must be a transaction to the recipient of the payout',
  },
  {
    pointer: '/transaction_id',
    holds: ({ hasAnotherType }) => hasAnotherType,
    detail: () => 'must be a transaction of the type of the payout',
  },
  {
    pointer: '/transaction_id',
    holds: ({ own, id }) => own?.id === id,
    detail: () => 'must be another transaction; the payout has this one already',
  },
  {
    pointer: '/transaction_id',
    holds: (facts, _, request) => !mayLose(otherOwner(facts, request)?.ground ?? 'person'),
    detail: ({ owner }) =>
      `must not be named by the records of another payout; attribute the transaction of ` +
      `${owner && payoutIdOf(owner.callId, owner.position)} first, which releases this one`,
  },
  {
    pointer: '/supersedes',
    holds: (facts, _, request) => superseded(facts, request).some((place) => !isNamed(request, place)),
    detail: (facts, request) => {
      const ids = superseded(facts, request).map(({ callId, position }) => payoutIdOf(callId, position));
      return `must list each payout that loses its transaction: ${ids.join(', ')}`;
    },
  },
  {
    pointer: '/supersedes',
    holds: (facts, _, request) =>
      request.supersedes.some((place) => !superseded(facts, request).some((one) => isPlace(one, place))),
    detail: () => 'must list only payouts that lose their transaction by this attribution',
  },
];

/** Returns every reason why a person must not make this attribution. */
export function faultsOf(facts: AttributionFacts, call: SettledCall, request: AttributionRequest): Fault[] {
  return OBSTACLES.filter(({ holds }) => holds(facts, call, request)).map(({ pointer, detail }) => ({
    pointer,
    detail: detail(facts, request),
  }));
}
