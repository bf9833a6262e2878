import { Gauge, Registry } from 'prom-client';

const HOUR_MS = 3_600_000;

/** Of calls in doubt, in words for people who look at a chart. Milliseconds. */
const AGES = {
  'under an hour': { from: -Infinity, to: HOUR_MS },
  'under a day': { from: HOUR_MS, to: 24 * HOUR_MS },
  'a day or more': { from: 24 * HOUR_MS, to: Infinity },
};

/** @param since when each call in doubt was sent, milliseconds since 1970; asked at each reading. */
export function watchDoubts(registry: Registry, since: () => number[]): void {
  new Gauge({
    name: 'payout_proxy_calls_in_doubt',
    help: 'Calls that pay or write of which it is unknown whether they were carried out, by how long ago they were sent.',
    labelNames: ['age'],
    registers: [registry],
    collect() {
      const ages = since().map((at) => Date.now() - at);
      for (const [age, { from, to }] of Object.entries(AGES)) {
        this.set({ age }, ages.filter((ms) => ms >= from && ms < to).length);
      }
    },
  });
}
