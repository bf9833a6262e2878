import { isLive, Payment } from '../../support/simulator/ledger';
import { AuditedCall, compareStates, ShownPayout, shownPayouts } from '../../support/simulator/shown';
import { payoutsOf } from '../bodies';
import { Lane } from '../lane';
import { World } from '../world';
import type { Timeline } from './invariants';
import { Intent, isSendable, misjudged } from './records';

/** Equal payouts of a schedule, and what the simulated upstream paid for them. */
interface EqualPayouts {
  /** Number of these payouts in the requests, however often each was sent. */
  wanted: number;
  shown: (ShownPayout & { call: Intent })[];
  payments: Payment[];
  /** Number of their calls that a list without their payments settled as not executed. */
  misjudged: number;
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
      const payments = account.ledger.paidTo(recipient).filter((payment) => payment.usd === usd);
      const equal = all.get(key) ?? { wanted: 0, shown: [], payments, misjudged: 0 };
      all.set(key, equal);
      equal.wanted += 1;
      equal.misjudged += misjudged(intents, arrivals);
      return equal;
    });
    for (const intent of intents.filter(wasSent)) {
      const call = (await world.read(`/v1/audit/calls/${intent.id}`, world.keys.auditor)) as AuditedCall;
      for (const [position, payout] of shownPayouts(call).entries())
        equals[position]?.shown.push({ ...payout, call: intent });
    }
  }
  const loose = await readLoose(world);
  return [...all].flatMap(([key, equal]) => differencesOf(equal, loose).map((fault) => `${key}: ${fault}`));
}

/** Reads the references of listed transactions that have no payout. */
async function readLoose({ database }: World): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ ref: string }>(
    'SELECT upstream_ref AS ref FROM book_transaction WHERE call_id IS NULL AND read_id IS NOT NULL',
  );
  return new Set(rows.map(({ ref }) => ref));
}

function wasSent(intent: Intent): boolean {
  return isSendable(intent) && intent.outcome !== 'not_sent';
}

function differencesOf(equal: EqualPayouts, loose: ReadonlySet<string>): string[] {
  const { wanted, shown, payments, misjudged: late } = equal;
  const { wrong, missing } = compareStates(shown, payments);
  const live = payments.filter((payment) => isLive(payment) && !payment.isSurplus);
  const doubts = wrong.filter(
    ({ state, named }) => state === 'in_doubt' && named.some((ref) => loose.has(ref)),
  );
  // A listed transaction without a payout could be what was not paid. What was paid is found in the list,
  // except by a copy, which has no recipients.
  const unpaid = missing.filter((state) => state === 'not_executed').length;
  const accepted = new Set([
    ...doubts.filter(({ call }) => call.recovered),
    ...doubts.filter(({ call }) => !call.recovered).slice(0, unpaid),
  ]);
  return [
    ...wrong
      .filter((payout) => !accepted.has(payout))
      // A copy has no recipients, so nothing shows whose late payment it is.
      .filter(({ call, state }) => !(late > 0 && call.recovered && state === 'not_executed'))
      .map(
        ({ call, state, reason }) =>
          `${call.id} is ${state}, not ${missing.join()} (${reason})${call.recovered ? ', recovered' : ''}`,
      ),
    ...(live.length > wanted + late ? [`paid ${live.length} times, wanted ${wanted}`] : []),
    ...(live.length > shown.length ? [`paid ${live.length} times, shown ${shown.length} times`] : []),
  ];
}
