/** Failures of cells, and their effects on clients. */
import { placeOf } from '../placement.mjs';
import { randomOf } from './random.mjs';
import { simulate } from './simulation.mjs';

/** Start of the failure, as a share of the simulated time. */
const BEGINS = 0.3;

/** Factor of the largest client's load while it is hot, and its duration as a share of the time. */
const HOT_TIMES = 5;
const HOT_SHARE = 0.3;

/** A client is hit if more than one of a thousand of its calls is refused. */
const HIT = 0.001;

/** Each takes (loads and settings) and returns outages and surges. The cell with the largest client fails. */
export const SCENARIOS = {
  calm: () => ({}),
  failover: ({ from, failover, worst }) => ({ outages: { [worst]: [{ from, to: from + failover }] } }),
  'cell down': ({ from, outage, worst }) => ({ outages: { [worst]: [{ from, to: from + outage }] } }),
  'hot client': ({ from, seconds, hottest }) => ({
    surges: [{ client: hottest, from, to: from + seconds * HOT_SHARE, times: HOT_TIMES }],
  }),
};

/**
 * Returns the clients' rates, which add up to `rate`: heavy-tailed, and the same for the same seed.
 * @public in a program of test/release/bench-cells.full.spec.ts
 */
export function loadsOf({ clients, rate, tail, seed }) {
  const random = randomOf(seed);
  const weights = Array.from({ length: clients }, () => random.pareto(tail));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => (weight * rate) / total);
}

/**
 * Returns the cell of each client. By load: the largest first, each to the cell with the least.
 * @public in a program of test/release/bench-cells.full.spec.ts
 */
export function placed(rates, cells, placement) {
  if (placement === 'hash') return rates.map((_, client) => placeOf(`client-${client}`, cells));
  const loads = Array(cells).fill(0);
  const places = Array(rates.length);
  const bySize = rates.map((rate, client) => ({ rate, client })).sort((a, b) => b.rate - a.rate);
  for (const { rate, client } of bySize) {
    const least = loads.indexOf(Math.min(...loads));
    places[client] = least;
    loads[least] += rate;
  }
  return places;
}

export function runScenario(
  scenario,
  { cells, placement, clients, rate, use, tail, failover, outage, patience, minutes, seed },
) {
  const seconds = minutes * 60;
  const rates = loadsOf({ clients, rate, tail, seed });
  const places = placed(rates, cells, placement);
  const hottest = rates.indexOf(Math.max(...rates));
  const { outages = {}, surges = [] } = SCENARIOS[scenario]({
    from: seconds * BEGINS,
    seconds,
    failover,
    outage,
    worst: places[hottest],
    hottest,
  });
  const capacity = rate / use / cells;
  const { totals, waits, timeline, busy } = simulate({
    clients: rates.map((each, client) => ({ rate: each, cell: places[client] })),
    cells: Array.from({ length: cells }, (_, cell) => ({ capacity, outages: outages[cell] ?? [] })),
    seconds,
    patience,
    surges,
    seed,
  });
  const sent = totals.reduce((sum, one) => sum + one.sent, 0);
  const refused = totals.reduce((sum, one) => sum + one.refused, 0);
  const availabilities = totals.filter((one) => one.sent > 0).map((one) => 1 - one.refused / one.sent);
  waits.sort((a, b) => a - b);
  return {
    cells,
    scenario,
    placement,
    calls: sent,
    refusedShare: refused / sent,
    clientsHitShare: availabilities.filter((one) => one < 1 - HIT).length / availabilities.length,
    worstAvailability: Math.min(...availabilities),
    p99WaitMs: (waits[Math.floor(waits.length * 0.99)] ?? 0) * 1_000,
    largestUse: Math.max(...busy),
    capacityNeeded: capacityNeeded(rates, places, cells),
    refusedShares: sharesOf(timeline),
  };
}

/** Returns the capacity that every cell needs for the load of the largest, relative to an even share. */
function capacityNeeded(rates, places, cells) {
  const loads = Array(cells).fill(0);
  rates.forEach((rate, client) => (loads[places[client]] += rate));
  return (Math.max(...loads) * cells) / loads.reduce((sum, load) => sum + load, 0);
}

/** Returns the share of calls that were refused, in each ten seconds. */
function sharesOf(timeline) {
  const shares = [];
  for (let from = 0; from < timeline.length; from += 10) {
    const some = timeline.slice(from, from + 10).filter(Boolean);
    const sent = some.reduce((sum, one) => sum + one.sent, 0);
    shares.push(sent === 0 ? 0 : Number((some.reduce((sum, one) => sum + one.refused, 0) / sent).toFixed(4)));
  }
  return shares;
}
