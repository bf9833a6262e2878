import { performance } from 'node:perf_hooks';
import { URLSearchParams } from 'node:url';

const PAGE = 50;
const DEEP_PAGE = 1_000;
/** The longest page: a thousand pages of 50 are 250 of them. */
const STRIDE = 200;
const DAY_MS = 86_400_000;

/** Searches the history of a proxy, as an auditor does, and measures the time. */
export class Searcher {
  constructor(url, key) {
    this.url = url;
    this.key = key;
  }

  async get(path) {
    const started = performance.now();
    const response = await fetch(`${this.url}/v1/audit/${path}`, { headers: { 'X-API-Key': this.key } });
    const body = await response.json();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`);
    return { body, ms: performance.now() - started };
  }

  /** Payouts from the whole history, to search for. */
  async samples() {
    const newest = (await this.get('items?page_size=1')).body.items[0];
    const oldest = new Date(Date.parse(newest.timings.received_at) - 150 * DAY_MS);
    const found = [];
    for (let n = 0; n < 10; n += 1) {
      const to = new Date(oldest.getTime() + n * 14 * DAY_MS).toISOString();
      for (const operation of ['POST /payouts/mobile-money', 'POST /payouts/credit']) {
        const filters = { to, operation, outcome: 'succeeded', page_size: '3' };
        found.push(...(await this.get(query('items', filters))).body.items);
      }
    }
    return found;
  }

  /** Returns the token of page 1,000, or of the last one, by reading the longest pages. */
  async walk({ path, filters: [filters] }) {
    let token;
    let rows = 0;
    while (rows < (DEEP_PAGE - 1) * PAGE) {
      const size = Math.min(STRIDE, (DEEP_PAGE - 1) * PAGE - rows);
      const { body } = await this.get(
        query(path, filters, { page_size: size, ...(token && { page_token: token }) }),
      );
      if (body.next_page_token === null) break;
      token = body.next_page_token;
      rows += size;
    }
    return { token, page: Math.floor(rows / PAGE) + 1 };
  }

  /**
   * Searches for each of its values once, and then `requests` times in turn.
   * @returns the times in ms, and the largest number of rows.
   */
  async measure({ path, filters }, requests, more = {}) {
    const times = [];
    let rows = 0;
    for (let n = -filters.length; n < requests; n += 1) {
      const asked = query(path, filters[Math.abs(n) % filters.length], { page_size: PAGE, ...more });
      const { body, ms } = await this.get(asked);
      rows = Math.max(rows, (body.calls ?? body.items).length);
      if (n >= 0) times.push(ms);
    }
    return { rows, times };
  }
}

export function quantile(times, share) {
  return [...times].sort((a, b) => a - b)[Math.ceil(times.length * share) - 1];
}

function query(path, filters, more) {
  return `${path}?${new URLSearchParams({ ...filters, ...more })}`;
}
