import { FAULTS } from '../../../src/sandbox/faults/table';
import { AIRTIME, airtime, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

/** Selection of requests by a fault, and its registration. */
describe('a requested fault', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox()));
  afterAll(() => sandbox.close());
  beforeEach(() => sandbox.control('delete', '/faults').expect(204));

  const pay = async () => (await sandbox.post('/payouts/airtime', airtime())).status;
  const payTimes = async (times: number) => {
    const statuses: number[] = [];
    for (let i = 0; i < times; i++) statuses.push(await pay());
    return statuses;
  };
  const listed = async () => (await sandbox.control('get', '/faults').expect(200)).body;
  const refused = async (body: object): Promise<string[]> =>
    (await sandbox.control('post', '/faults', body).expect(400)).body.faults;

  it('strikes the nth matching request, once', async () => {
    await sandbox.fault({ fault: 'error500', operation: AIRTIME, nth: 3 });
    await sandbox.get('/wallets/list').expect(200); // does not match
    expect(await payTimes(5)).toEqual([200, 200, 500, 200, 200]);
  });

  it('strikes every matching request by default, also of unknown operations', async () => {
    await sandbox.fault({ fault: 'forbidden' });
    expect(await payTimes(2)).toEqual([403, 403]);
    await sandbox.get('/wallets/list').expect(403);
    await sandbox.get('/nothing').expect(403);
    expect(await listed()).toMatchObject([{ struck: 4, operation: null }]);
  });

  it('yields to an earlier one, and counts all matching requests', async () => {
    await sandbox.fault({ fault: 'error500', nth: 1 });
    await sandbox.fault({ fault: 'forbidden', nth: 2 });
    await sandbox.fault({ fault: 'unauthorized', nth: 2 });
    expect(await payTimes(4)).toEqual([500, 403, 401, 200]);
  });

  it('strikes requests by its seed alone', async () => {
    const struckBy = async (...faults: object[]) => {
      await sandbox.control('delete', '/faults').expect(204);
      for (const fault of faults) await sandbox.fault(fault);
      return (await payTimes(30)).map((status) => (status === 500 ? 1 : 0)).join('');
    };
    const seven = { fault: 'error500', operation: AIRTIME, probability: 0.5, seed: 7 };
    const drawn = await struckBy(seven);
    expect(drawn).toMatch(/01|10/);
    expect(await struckBy({ ...seven, operation: 'POST /send', seed: 8 }, seven)).toBe(drawn);
    expect(await struckBy({ ...seven, seed: 8 })).not.toBe(drawn);
    expect(await struckBy({ ...seven, probability: 0 })).toBe('0'.repeat(30));
    expect(await struckBy({ ...seven, probability: 1 })).toBe('1'.repeat(30));
  });

  it('is stored with its defaults, listed with its count, and removed by its ID', async () => {
    const late = await sandbox.fault({ fault: 'lateProcessing', operation: AIRTIME, probability: 0.1 });
    const { id, ...rest } = late;
    expect(rest).toEqual({
      fault: 'lateProcessing',
      operation: AIRTIME,
      probability: 0.1,
      seed: 1,
      processed: true,
      ms: 3000,
      status: 503,
      struck: 0,
    });
    const other = await sandbox.fault({ fault: 'error500', nth: 1, processed: true });
    await pay();
    expect(await listed()).toEqual([
      expect.objectContaining({ id }),
      { ...other, struck: expect.any(Number) },
    ]);
    await sandbox.control('delete', `/faults/${id}`).expect(204);
    await sandbox.control('delete', `/faults/${id}`).expect(404);
    expect((await listed()).map((fault) => fault.id)).toEqual([other.id]);
  });

  it('ends with the process', async () => {
    await sandbox.fault({ fault: 'error500' });
    const restarted = await startSandbox({}, sandbox.own);
    expect((await restarted.control('get', '/faults').expect(200)).body).toEqual([]);
    await restarted.close();
  });

  it('is rejected with all errors and the valid names', async () => {
    expect(await refused({ fault: 'explode' })).toEqual([
      `fault must be one of ${Object.keys(FAULTS).join(', ')}`,
    ]);
    expect(
      await refused({
        fault: 'delay',
        operation: 'POST /payout',
        nth: 0,
        ms: -1,
        bytes: 3,
        seed: 1,
        processed: false,
      }),
    ).toEqual([
      expect.stringMatching(
        /^operation must be one of POST \/send, POST \/payouts\/airtime, .*GET \/account\/transaction/,
      ),
      'nth must be a whole number from 1 to 9007199254740991',
      'ms must be a whole number from 0 to 600000',
      'bytes is unknown; the fields are fault, operation, nth, probability, seed, processed, ms',
      'processed must be true or omitted for this fault',
      'seed requires probability',
    ]);
    expect(await refused({ fault: 'error500', nth: 1, probability: 2 })).toEqual([
      'probability must be a number from 0 to 1',
      'nth and probability exclude each other',
    ]);
    expect(await refused([])).toHaveLength(1);
    expect(await listed()).toEqual([]);
  });
});
