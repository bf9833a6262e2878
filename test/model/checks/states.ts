import { isLive, Payment } from '../../support/simulator/ledger';
import {
  AuditedCall,
  compareStates,
  isNamedDoubt,
  ShownPayout,
  shownPayouts,
} from '../../support/simulator/shown';
import { payoutsOf } from '../bodies';
import { Lane } from '../lane';
import { World } from '../world';
import type { Timeline } from './invariants';
import type { Intent } from './records';

/** Equal payouts of a schedule, and what the simulated upstream paid for them. */
interface EqualPayouts {
  /** Number of these payouts in the requests, however often each was sent. */
  wanted: number;
  shown: (ShownPayout & { call: Intent })[];
  payments: Payment[];
  /** All payments to their recipient. A doubt may be about another amount. */
  related: Payment[];
  /** Whether the list lacks one of their payments until the quiet period has ended. */
  isUnknowable: boolean;
}

/**
 * Checks payouts against the ledger of the simulated upstream: each has the state of its payment, or is in
 * doubt for a reason that names the rows, and nobody is paid too often.
 */
export async function checkStates(world: World, { account }: Lane, timelines: Timeline[]): Promise<string[]> {
  if (!account) return [];
  const all = new Map<string, EqualPayouts>();
  for (const timeline of timelines) {
    const { request, number, intents, arrivals } = timeline;
    const payouts = payoutsOf(request, number);
    const equals = payouts.map(({ recipient, usd }) => {
      const key = `${usd} to ${recipient}`;
      const related = account.ledger.paidTo(recipient);
      const payments = related.filter((payment) => payment.usd === usd);
      const equal = all.get(key) ?? { wanted: 0, shown: [], payments, related, isUnknowable: false };
      all.set(key, equal);
      equal.wanted += 1;
      equal.isUnknowable ||= arrivals.some(({ unknowable }) => unknowable !== undefined);
      return equal;
    });
    for (const intent of intents.filter(isSendable)) {
      const call = (await world.read(`/v1/audit/calls/${intent.id}`, world.keys.auditor)) as AuditedCall;
      for (const [position, payout] of shownPayouts(call).entries())
        equals[position]?.shown.push({ ...payout, call: intent });
    }
  }
  return [...all].flatMap(([key, equal]) => differencesOf(equal).map((fault) => `${key}: ${fault}`));
}

function isSendable({ refused, held, decision, outcome }: Intent): boolean {
  return !refused && outcome !== 'not_sent' && (!held || decision === 'approved');
}

function differencesOf(equal: EqualPayouts): string[] {
  const { wanted, shown, payments, isUnknowable: isLate } = equal;
  const { wrong, missing } = compareStates(shown, payments);
  const live = payments.filter((payment) => isLive(payment) && !payment.isSurplus);
  return [
    ...wrong
      .filter((payout) => !isNamedDoubt(payout, equal.related))
      // A copy has no recipients, so nothing shows whose late payment it is.
      .filter(({ call, state }) => !(isLate && call.recovered && state === 'not_executed'))
      .map(({ call, state, reason }) => `${call.id} is ${state}, not ${missing.join()} (${reason})`),
    ...(live.length > wanted && !isLate ? [`paid ${live.length} times, wanted ${wanted}`] : []),
    ...(live.length > shown.length ? [`paid ${live.length} times, shown ${shown.length} times`] : []),
  ];
}
