import { Decimal } from 'decimal.js';
import { TestSandbox } from '../../support/sandbox/sandbox';
import { isLive } from '../../support/simulator/ledger';
import { itemCountOf } from '../bodies';
import { DecisionResponse, Lane, SentRequest } from '../lane';
import { World } from '../world';
import type { Timeline } from './invariants';
import { Intent, misjudged, readSpending } from './records';

const ZERO = new Decimal(0);

/**
 * Checks that spending equals the sent amounts not known to be unpaid, and agrees with the ledger. It never
 * exceeds a cap, and no request below a cap was refused.
 */
export async function checkMoney(world: World, lane: Lane, timelines: Timeline[]): Promise<string[]> {
  const {
    database,
    upstream: { sandbox },
  } = world;
  const caps = capsOf(lane);
  const overspent = await database.query<{ usd: string }>('SELECT * FROM overspent WHERE client_id = $1', [
    lane.client.id,
  ]);
  // A payment that no list shows in time frees its money. It counts again once it is shown.
  const returned = sum(
    timelines.flatMap(({ intents: calls, arrivals, totalUsd }) =>
      Array<Decimal>(misjudged(calls, arrivals)).fill(totalUsd ?? ZERO),
    ),
  );
  const paid = sum(lane.account ? simulatedPayments(timelines) : await reallyPaid(sandbox, timelines));
  const spent = await readSpending(database, lane.client.id);
  const intents = timelines.flatMap((timeline) => timeline.intents);
  const right = spendingOf(intents);
  const days = [...new Set([...spent.keys(), ...right.keys()])];
  return [
    ...overspent
      .filter(({ usd }) => returned.isZero() || caps.some((cap) => returned.plus(cap).lt(usd)))
      .map(({ usd }) => `${usd} US dollars were spent at one moment, of ${caps.join(' and ')}`),
    ...caps
      .filter((cap) => paid.gt(returned.plus(cap)))
      .map((cap) => `${paid.toFixed()} US dollars were paid, of ${cap.toFixed()}`),
    ...days
      .filter((day) => !(right.get(day) ?? ZERO).eq(spent.get(day) ?? 0))
      .map(
        (day) => `${spent.get(day)} US dollars count as spent on ${day}, not ${right.get(day)?.toFixed()}`,
      ),
    ...intents
      .filter(
        (intent) =>
          intent.reservedOn !== null && !intent.refused && !countedOf(intent).eq(intent.ledgerUsd ?? 0),
      )
      .map(
        (intent) =>
          `${intent.id} counts ${countedOf(intent).toFixed()}, and by its ledger ${intent.ledgerUsd}`,
      ),
    ...timelines.flatMap((timeline) =>
      [...timeline.sent, ...lane.decided.filter(({ number }) => number === timeline.number)].flatMap(
        (attempt) =>
          checkRefusal(timeline, attempt, caps, (time) =>
            timelines.flatMap((each) => reservationsOf(each, time, world.lost)),
          ),
      ),
    ),
  ];
}

function capsOf({ schedule: { limits } }: Lane): Decimal[] {
  return [limits.dailyCap, limits.monthlyCap].flatMap((tenths) =>
    tenths === null ? [] : [new Decimal(tenths).div(10)],
  );
}

/** Returns the amounts of payouts that the upstream kept. Those that it duplicated itself count once. */
async function reallyPaid(sandbox: TestSandbox, timelines: Timeline[]): Promise<Decimal[]> {
  const { body: all } = await sandbox.control('get', '/transactions').expect(200);
  const paid = new Map(
    all.filter(({ truth }) => truth.money !== 'kept').map((one) => [one.chiRef, one.valueInUSD]),
  );
  return timelines.flatMap(({ arrivals, request, totalUsd }) => {
    const done = totalUsd === null ? [] : arrivals.filter(({ processed }) => processed);
    const made = done.flatMap(({ chiRefs }) => chiRefs.slice(0, itemCountOf(request)));
    return made.map((chiRef) => new Decimal(paid.get(chiRef) ?? 0));
  });
}

function simulatedPayments(timelines: Timeline[]): Decimal[] {
  return timelines.flatMap(({ arrivals }) =>
    arrivals.flatMap(({ paid = [] }) => paid.filter(isLive).map(({ usd }) => new Decimal(usd))),
  );
}

/** Returns the amount of a call that counts on its caps, by the records. */
function countedOf({ reservedOn, totalUsd, countedUsd, outcome, resolution, refused }: Intent): Decimal {
  const isRejected = resolution === null && (outcome === 'rejected' || outcome === 'not_sent');
  if (reservedOn === null || isRejected || resolution === 'not_executed' || refused) return ZERO;
  return new Decimal(countedUsd ?? totalUsd ?? 0);
}

/** Returns the spending by day, by the records. */
function spendingOf(intents: Intent[]): Map<string, Decimal> {
  const byDay = new Map<string, Decimal>();
  for (const intent of intents) {
    const day = intent.reservedOn;
    if (day !== null) byDay.set(day, (byDay.get(day) ?? ZERO).plus(countedOf(intent)));
  }
  return byDay;
}

/** Reports a refusal for money if the largest possible spending at that time left enough. */
function checkRefusal(
  { number, totalUsd }: Timeline,
  { response, startedAt, endedAt }: SentRequest | DecisionResponse,
  caps: Decimal[],
  reservedAt: (time: { startedAt: number; endedAt: number }) => Decimal[],
): string[] {
  if (response?.json.code !== 'cap_exceeded') return [];
  const spent = sum(reservedAt({ startedAt, endedAt }));
  const room = caps.every((cap) => spent.plus(totalUsd ?? 0).lte(cap));
  return room
    ? [`request ${number} was refused for money, but at most ${spent.toFixed()} US dollars were spent`]
    : [];
}

/** Returns the amounts of a request's calls that may have been reserved between two moments. */
function reservationsOf(
  { number, sent, intents, totalUsd }: Timeline,
  { startedAt, endedAt }: { startedAt: number; endedAt: number },
  lost: World['lost'],
): Decimal[] {
  if (sent.every((each) => each.startedAt > endedAt)) return [];
  const givenBack = ({ id, outcome }: Intent) =>
    (outcome === 'rejected' || outcome === 'not_sent') &&
    sent.some(
      ({ response, endedAt: at }) =>
        at < startedAt && response && response.status !== 202 && response.headers.get('x-call-id') === id,
    );
  const reserved = intents.filter((intent) => intent.reservedOn !== null && !givenBack(intent));
  // A call refused before the restore is in no copy, so its reservation is unknown.
  const gone = lost && startedAt < lost.at ? [...lost.calls].filter(([, about]) => about === number) : [];
  const unrecorded = gone.filter(([id]) => !intents.some((intent) => intent.id === id));
  return [...reserved, ...unrecorded].map(() => totalUsd ?? ZERO);
}

function sum(amounts: Decimal[]): Decimal {
  return amounts.reduce((total, amount) => total.plus(amount), ZERO);
}
