import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { runs } from '../support/examples/runs';
import { airtimeItem, creditItem, momoItem } from '../support/http/interface';
import { PreviewScene, startPreviewing } from '../support/payments/previewing';

const AIRTIME = '/payouts/airtime';
const airtimes = (...changes: object[]) => ({
  airtimes: changes.map((change) => ({ ...airtimeItem(), ...change })),
});
const keyed = (key: string) => ({ 'Idempotency-Key': key });

describe('a preview', () => {
  let api: PreviewScene;

  beforeAll(async () => {
    api = await startPreviewing({ duplicateGuard: true, duplicateWindowSeconds: 3_600 });
  });
  afterAll(() => api.close());

  const statusOf: Record<string, number[]> = {
    be_sent: [200],
    wait_for_approval: [202],
    be_replayed: [200, 202],
  };
  const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
  const change = fc.record(
    {
      phoneNumber: fc.oneof(
        { weight: 9, arbitrary: oneOf('+2348012345678', '+254712345678') },
        oneOf<unknown>('0025471', 7),
      ),
      countryToSend: oneOf('Kenya', 'Kenya', 'NIGERIA', 'NIGERIA', 'France'),
      valueInUSD: oneOf(0.5, 1, 1, 2.000001, 2.5, 40, 0),
      momoCode: oneOf('MPS', 'MPS', 'XXX'),
    },
    { requiredKeys: [] },
  );
  const request = fc.oneof(
    fc.record({
      path: fc.constant(AIRTIME),
      body: fc
        .array(
          change.map(({ momoCode: _, ...rest }) => rest),
          { minLength: 1, maxLength: 2 },
        )
        .map((all) => airtimes(...all)),
    }),
    fc.record({
      path: fc.constant('/payouts/mobile-money'),
      body: fc
        .array(change, { minLength: 1, maxLength: 2 })
        .map((all) => ({ momos: all.map((one) => ({ ...momoItem(), countryToSend: 'Kenya', ...one })) })),
    }),
    fc.record({
      path: oneOf('/account/transfer'),
      body: fc.record({ receiver: oneOf('a', 'b'), amount: oneOf(1, 3, 40) }, { requiredKeys: ['receiver'] }),
    }),
    fc.record({ path: fc.constant('/send'), body: fc.constant({ credit: [creditItem()] }) }),
  );
  const limit = (...amounts: number[]) =>
    fc.option(
      oneOf(...amounts).map((amount) => new Decimal(amount)),
      { freq: 3 },
    );
  const limits = fc.record({
    dailyCapUsd: limit(3, 10),
    maxItemUsd: limit(2),
    maxCallUsd: limit(3),
    approvalOverUsd: limit(1, 2),
    approvalOverRecipientDayUsd: limit(1, 3),
    approvalOverDayUsd: limit(3, 5),
    maxRecipientDayUsd: limit(2, 4),
    holdDuplicatesDays: fc.option(oneOf(1, 30), { freq: 1 }),
    maxItems: fc.option(oneOf(1, 2)),
    requireIdempotencyKey: oneOf(false, false, false, true),
    countries: oneOf<string[]>([], [], ['Kenya']),
  });
  const step = fc.record({
    request,
    header: oneOf(undefined, undefined, 'a', 'a', 'b', 'a b'),
    /** Call to repeat on purpose: the client's last one, an unknown ID, or none. */
    names: oneOf(undefined, 'the last one', 'the last one', '019aaaaa-0000-7000-8000-000000000000', 'no id'),
  });
  const steps = fc.array(step, { minLength: 3, maxLength: 8 });

  it('agrees with the result of the request, for any client and body', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(limits, steps, async (limits, steps) => {
        const { key } = await api.client(limits);
        let told = '019aaaaa-0000-7000-8000-000000000001';
        for (const { request, header, names } of steps) {
          const headers: Record<string, string> = header === undefined ? {} : keyed(header);
          if (names !== undefined) headers['Allow-Duplicate-Of'] = names === 'the last one' ? told : names;
          const { would, refusal } = await api.preview(key, request.path, request.body, headers);
          const { status, body, headers: answered } = await api.ask(key, request.path, request.body, headers);
          seen.add(refusal?.code ?? would);
          told = body.first_call_id ?? answered['x-call-id'] ?? told;
          if (would === 'be_refused') {
            const {
              code,
              action,
              errors_total: faults = 0,
              first_call_id: first,
              first_call_state: state,
            } = body;
            expect([refusal!.status, refusal!.code, refusal!.action]).toEqual([status, code, action]);
            expect([refusal!.errors_total, refusal!.first_call_id]).toEqual([faults, first]);
            expect(refusal!.first_call_state).toBe(state);
            // the detail continues with the first fault
            expect(body.error?.startsWith(refusal!.detail)).toBe(true);
          } else {
            expect(statusOf[would]).toContain(status);
            expect(would === 'be_replayed').toBe(answered['idempotent-replayed'] === 'true');
          }
        }
      }),
      { numRuns: runs(15) },
    );
    // these cases occurred
    expect([...seen]).toEqual(expect.arrayContaining(['be_sent', 'cap_exceeded', 'invalid_request']));
  });
});
