import { singles } from '../history/search-cases.mjs';
import { quantile, Searcher } from '../history/searcher.mjs';
import { median } from '../report.mjs';
import { costs, settle } from '../support/costs.mjs';
import { rssOf } from '../support/processes.mjs';
import { startProgress } from '../support/progress.mjs';

const CONNECTIONS = 32;
/** Warm-up time, until V8 has compiled frequent code. */
const WARM_UP_SECONDS = 3;

/**
 * Measures how fast calls are accepted, round by round, one size after the other.
 * @returns by size, the result of each round.
 */
export async function insertRounds(subjects, { postgres, ask }, { rounds, seconds }) {
  const results = new Map(subjects.map(({ calls }) => [calls, []]));
  const progress = startProgress('inserting', (rounds + 1) * subjects.length);
  for (let round = 0; round <= rounds; round += 1) {
    for (const subject of subjects) {
      const begin = await costs(subject, postgres);
      const {
        requests,
        seconds: took,
        failures,
      } = await ask(roundOf(subject, round === 0 ? WARM_UP_SECONDS : seconds));
      const rssMb = rssOf(subject.pids[0]);
      await settle(subject, postgres);
      progress.add(1);
      if (failures.length > 0) throw new Error(`calls failed: ${JSON.stringify(failures)}`);
      if (round === 0) continue;
      const end = await costs(subject, postgres);
      const each = (name, scale = 1) => ((end[name] - begin[name]) * scale) / requests;
      results.get(subject.calls).push({
        requests,
        requestsPerSecond: requests / took,
        rssMb,
        proxyCpuMs: each('proxyCpu', 1_000) + each('workerCpu', 1_000),
        postgresCpuMs: each('postgresCpu', 1_000),
        walBytes: each('walBytes'),
      });
    }
  }
  progress.end();
  return results;
}

function roundOf({ urls, keys }, seconds) {
  const load = { operation: 'airtime', connections: CONNECTIONS, idempotencyKeys: true };
  return { urls, apiKey: keys.busiest, seconds, ...load };
}

/**
 * Measures the time of searches, filter by filter.
 * @returns by size: [{name, rows, p50, p95, deep: {page, p50, p95}}], times in ms.
 */
export async function searchRounds(subjects, { rounds, requests, deep }) {
  const all = [];
  for (const { calls, urls, keys } of subjects) {
    const searcher = new Searcher(urls[0], keys.auditor);
    const cases = singles(await searcher.samples()).filter(({ filters }) => filters.length > 0);
    all.push({ calls, searcher, cases: cases.map((one) => ({ ...one, first: [], deepTimes: [], rows: 0 })) });
  }
  if (deep) await walkAll(all);
  const progress = startProgress('searching', rounds * all.reduce((sum, { cases }) => sum + cases.length, 0));
  for (let round = 0; round < rounds; round += 1) {
    for (let place = 0; place < Math.max(...all.map(({ cases }) => cases.length)); place += 1) {
      for (const { searcher, cases } of all) {
        const one = cases[place];
        if (!one) continue;
        await searchOnce(searcher, one, requests);
        progress.add(1);
      }
    }
  }
  progress.end();
  return new Map(all.map(({ calls, cases }) => [calls, cases.map(summary)]));
}

async function searchOnce(searcher, one, requests) {
  const { times, rows } = await searcher.measure(one, requests);
  one.first.push(...times);
  one.rows = Math.max(one.rows, rows);
  if (!one.token) return;
  const far = await searcher.measure({ ...one, filters: one.filters.slice(0, 1) }, requests, {
    page_token: one.token,
  });
  one.deepTimes.push(...far.times);
}

/** Reads to page 1,000, or the last one. */
async function walkAll(all) {
  const progress = startProgress(
    'walking to page 1,000',
    all.reduce((sum, { cases }) => sum + cases.length, 0),
  );
  for (const { searcher, cases } of all) {
    for (const one of cases) {
      Object.assign(one, await searcher.walk(one));
      progress.add(1);
    }
  }
  progress.end();
}

function summary({ name, rows, first, deepTimes, page }) {
  const of = (times) => ({ p50: quantile(times, 0.5), p95: quantile(times, 0.95) });
  return { name, rows, ...of(first), ...(deepTimes.length > 0 && { deep: { page, ...of(deepTimes) } }) };
}

/** Summarizes all rounds: {median, low, high} of each figure. */
export function spreadOf(rounds) {
  const figures = Object.keys(rounds[0]);
  return Object.fromEntries(
    figures.map((figure) => {
      const values = rounds.map((round) => round[figure]);
      return [figure, { median: median(values), low: Math.min(...values), high: Math.max(...values) }];
    }),
  );
}
