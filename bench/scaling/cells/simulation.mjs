/**
 * The model. A cell serves calls one after the other, in the order of their arrival, and takes 1 / capacity
 * seconds for each: batches make a cell faster than any of its calls, so its capacity in calls per second is
 * all that matters here. A call that would wait longer than its app's patience is refused at once and costs
 * nothing, as the proxy sheds load before it writes an intent. While a cell is down, it serves nothing. Calls
 * that arrive meanwhile wait for its return.
 */
import { randomOf } from './random.mjs';

/**
 * @param clients [{rate, cell}]: calls per second, and where it is placed.
 * @param cells [{capacity, outages: [{from, to}]}]: calls per second, and when it is down, in seconds.
 * @param surges [{client, from, to, times}]: a client that sends more for a while.
 * @param service `fixed`, or `random` with an exponential distribution.
 * @returns for each client {sent, refused}, for each cell {busy}, and a sample of the waits of calls that
 * were served.
 */
export function simulate({
  clients,
  cells,
  seconds,
  patience = Infinity,
  surges = [],
  service = 'fixed',
  seed,
}) {
  const random = randomOf(seed);
  const totals = clients.map(() => ({ sent: 0, refused: 0 }));
  const states = cells.map(({ outages = [] }) => ({ freeAt: 0, busy: 0, outages }));
  const waits = [];
  const timeline = [];
  for (const { at, client } of arrivals(clients, { seconds, surges, random })) {
    const place = clients[client].cell;
    const state = states[place];
    const start = nextUp(state.outages, Math.max(at, state.freeAt));
    totals[client].sent += 1;
    const second = (timeline[Math.floor(at)] ??= { sent: 0, refused: 0 });
    second.sent += 1;
    if (start - at > patience) {
      totals[client].refused += 1;
      second.refused += 1;
      continue;
    }
    const { capacity } = cells[place];
    const takes = service === 'fixed' ? 1 / capacity : random.exponential(capacity);
    state.freeAt = start + takes;
    state.busy += takes;
    waits.push(start - at);
  }
  return { totals, waits, timeline, busy: states.map(({ busy }) => busy / seconds) };
}

/** Yields all arrivals in order. Each client's are a Poisson process, and so is their sum. */
function* arrivals(clients, { seconds, surges, random }) {
  const rates = clients.map(
    ({ rate }, client) =>
      rate * Math.max(1, ...surges.filter((one) => one.client === client).map(({ times }) => times)),
  );
  const chosen = chooserOf(rates);
  const total = rates.reduce((sum, rate) => sum + rate, 0);
  for (let at = random.exponential(total); at < seconds; at += random.exponential(total)) {
    const client = chosen(random.uniform());
    const most = rates[client] / clients[client].rate;
    // Thinning: arrivals are drawn at the highest rate, and outside of a surge only some count.
    const now = surges.find((one) => one.client === client && at >= one.from && at < one.to)?.times ?? 1;
    if (most === 1 || random.uniform() < now / most) yield { at, client };
  }
}

/** Returns a function that maps a number below 1 to a place, in proportion to the weights. */
function chooserOf(weights) {
  const sums = [];
  weights.reduce((sum, weight) => (sums.push(sum + weight), sum + weight), 0);
  return (uniform) => {
    const wanted = uniform * sums.at(-1);
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}

/** Returns the first moment from then on at which a cell is up. */
function nextUp(outages, at) {
  return outages.reduce((moment, { from, to }) => (moment >= from && moment < to ? to : moment), at);
}
