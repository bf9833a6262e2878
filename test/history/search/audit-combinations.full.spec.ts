import fc from 'fast-check';
import { APPROVAL_STATUSES, CallRecord } from '../../../src/history/records/record.dto';
import { RecordsService } from '../../../src/history/records/records.service';
import { CallSearch } from '../../../src/history/search/search.dto';
import { SearchService } from '../../../src/history/search/search.service';
import { CALL_STATES } from '../../../src/operations/lifecycle/lifecycle';
import { makeUpHistory } from '../../support/databases/history';
import { runs } from '../../support/examples/runs';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import { naiveCalls, naiveItems } from '../../support/records/naive-search';

const CALLS = 250;

/** Compares the index with a scan of every record. */
describe('a search with any combination of filters', () => {
  let proxy: TestProxy;
  let searching: SearchService;
  /** Newest first. */
  let calls: CallRecord[];

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' });
    searching = proxy.app.get(SearchService, { strict: false });
    await makeUpHistory(proxy.database, { calls: CALLS, days: 40 });
    const records = proxy.app.get(RecordsService, { strict: false });
    const ids = await proxy.database.query<{ id: string }>(
      'SELECT id::text FROM intent UNION SELECT id::text FROM refusal ORDER BY 1 DESC',
    );
    calls = await records.list(
      ids.map(({ id }) => id),
      true,
    );
    expect(calls).toHaveLength(CALLS);
  });
  afterAll(() => proxy.close());

  /** Values of calls and payouts, and values without a match. */
  function searches(): fc.Arbitrary<CallSearch> {
    const items = calls.flatMap((call) => call.items);
    const some = <Row, Value>(rows: Row[], pick: (row: Row) => Value | null | undefined) => {
      const values = [...new Set(rows.flatMap((row) => pick(row) ?? []))] as NonNullable<Value>[];
      return fc.constantFrom(...values);
    };
    const contact = some(
      items,
      ({ recipient }) => recipient.email ?? recipient.phone ?? recipient.handle ?? recipient.receiver,
    );
    const usd = fc.oneof(
      some(items, ({ amount_usd: amount }) => amount),
      fc.constantFrom('0', '4.5', '90', '200', '5000'),
    );
    const instant = some(calls, ({ timings }) => timings.received_at.toISOString());
    return fc
      .record(
        {
          from: instant,
          to: instant,
          min_item_usd: usd,
          max_item_usd: usd,
          min_total_usd: usd,
          max_total_usd: usd,
          client: fc.oneof(
            some(calls, ({ client }) => client.name),
            some(calls, ({ client }) => client.id),
            fc.constant('nobody'),
          ),
          key: some(calls, (call) => call.key_id),
          actor: some(calls, (call) => call.actor),
          operation: some(calls, (call) => call.operation),
          outcome: fc.constantFrom(...CALL_STATES),
          in_doubt: fc.constantFrom('true', 'false'),
          approval: fc.constantFrom(...APPROVAL_STATUSES),
          recipient: contact,
          recipient_prefix: fc
            .tuple(contact, fc.integer({ min: 3, max: 14 }))
            .map(([text, length]) => text.slice(0, length)),
          country: some(items, (item) => item.country),
          network_code: some(items, (item) => item.network_code),
          reference: some(items, (item) => item.reference),
          upstream_ref: fc.oneof(
            some(items, (item) => item.upstream?.upstream_ref ?? item.upstream_ref),
            some(calls, (call) => call.upstream?.other_items[0]?.batch_ref),
          ),
          idempotency_key: some(calls, (call) => call.idempotency_key),
          request_id: some(calls, (call) => call.request_id),
          client_address: some(calls, (call) => call.client_address),
        },
        { requiredKeys: [] },
      )
      .chain((all) =>
        fc
          .subarray(Object.keys(all), { maxLength: 4 })
          .map((names) => Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))),
      )
      .filter(
        ({
          min_item_usd: a = '0',
          max_item_usd: b = '9e9',
          min_total_usd: c = '0',
          max_total_usd: d = '9e9',
        }) => Number(a) <= Number(b) && Number(c) <= Number(d),
      );
  }

  /** Reads all pages. */
  async function all(search: CallSearch, listed: 'calls' | 'items', size: number): Promise<string[]> {
    const found: string[] = [];
    let token: string | null | undefined;
    do {
      const page = await searching.search(
        { ...search, page_size: size, ...(token && { page_token: token }) },
        listed,
      );
      found.push(...page.rows.map(({ id, position }) => (listed === 'calls' ? id : `${id}/${position}`)));
      token = page.nextPageToken;
    } while (token !== null);
    return found;
  }

  it('finds the same calls as a full scan, in order, for any page size', async () => {
    const sorted = fc.tuple(
      searches(),
      fc.constantFrom('time' as const, 'amount' as const),
      fc.integer({ min: 30, max: 200 }),
    );
    let findings = 0;
    await fc.assert(
      fc.asyncProperty(sorted, fc.boolean(), async ([filters, sort, size], ofItems) => {
        const search = { ...filters, sort };
        const found = await all(search, ofItems ? 'items' : 'calls', size);
        expect(found).toEqual(ofItems ? naiveItems(calls, search) : naiveCalls(calls, search));
        findings += found.length > 0 ? 1 : 0;
      }),
      { numRuns: runs(100), seed: 5 },
    );
    expect(findings).toBeGreaterThan(runs(25)); // Empty results prove little.
  });

  it('finds the same calls oldest first, in batches, and counts them', async () => {
    await fc.assert(
      fc.asyncProperty(
        searches(),
        fc.boolean(),
        fc.integer({ min: 20, max: 100 }),
        async (search, ofItems, batch) => {
          const query = await searching.open(search, ofItems ? 'items' : 'calls');
          const found: string[] = [];
          for await (const places of searching.walk(query, { batch })) {
            expect(places.length).toBeGreaterThan(0);
            found.push(...places.map(({ id, position }) => (ofItems ? `${id}/${position}` : id)));
          }
          const wanted = ofItems ? naiveItems(calls, search) : naiveCalls(calls, search);
          expect(found).toEqual(wanted.reverse());
          expect(await searching.count(query)).toBe(found.length);
        },
      ),
      { numRuns: runs(30), seed: 7 },
    );
  });
});
