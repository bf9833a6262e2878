import { INestApplicationContext } from '@nestjs/common';
import { BackOff } from '../../../src/reconciliation/in-doubt/rounds/back-off';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { answer } from '../../support/network/fake-upstream';
import { PaymentScene, startPaying } from '../../support/payments/paying';

interface RequestedItems {
  airtimes?: { phoneNumber: string; valueInUSD: number }[];
  momos?: { phoneNumber: string; valueInUSD: number }[];
}

/** Transactions of the next payout. Default: one per item, in one batch, now. */
interface PayoutBehavior {
  /** Loses the answer. */
  lost?: boolean;
  /** Refuses it with this status. */
  refusedWith?: number;
  issueID?: string;
  /** Offset of its clock. */
  minutes?: number;
  /** Number of executed items. */
  only?: number;
  more?: object;
  /** Mobile money instead of airtime. */
  momo?: true;
  /** Executes it without listing it yet. */
  unlisted?: true;
}

/** A defective listing is no evidence that a payout never happened. */
describe('the resolver with an unusual listing', () => {
  let paying: PaymentScene;
  let worker: INestApplicationContext;
  let listed: Record<string, unknown>[] = [];
  let making: PayoutBehavior = {};
  let number = 0;
  let recipient = 50;
  /** Runs during the next read of the listing. */
  let meanwhile: (() => Promise<unknown>) | undefined;
  /** Suffix of the path with unreadable answers. */
  let broken: string | undefined;

  const make = ({ airtimes, momos }: RequestedItems): object[] => {
    const items = airtimes ?? momos ?? [];
    const { issueID = `issue ${(number += 1)}`, minutes = 0, only = items.length, more = {} } = making;
    const issueDate = new Date(Date.now() + minutes * 60_000).toISOString();
    const made = items.slice(0, only).map(({ phoneNumber, valueInUSD }) => {
      const chiRef = `ref ${(number += 1)}`;
      return {
        chiRef,
        id: `id${chiRef}`,
        issueID,
        issueDate,
        type: momos ? 'momo' : 'airtime',
        status: 'paid',
        phoneNumber,
        valueInUSD,
        ...more,
      };
    });
    if (!making.unlisted) listed.push(...made);
    return made;
  };

  beforeAll(async () => {
    paying = await startPaying({ resolverQuietSeconds: 3_600 });
    worker = await paying.proxy.startWorker();
    worker.get(PollService).rules.quietMs = 0;
    paying.upstream.behaviour = async (request, response, socket) => {
      const [path = ''] = request.url.split('?');
      if (broken && path.endsWith(broken)) return answer(200, '{"status":')(request, response, socket);
      if (request.url.endsWith('/account/transactions')) {
        const happening = meanwhile;
        meanwhile = undefined;
        await happening?.();
        return answer(200, { status: 'success', data: listed })(request, response, socket);
      }
      if (path.endsWith('/account/transaction')) {
        const asked = new URLSearchParams(request.url.split('?')[1]).get('id');
        const data = listed.find(({ id }) => id === asked);
        return answer(200, { status: 'success', data })(request, response, socket);
      }
      if (request.url.endsWith('/wallets/list')) {
        return answer(200, { status: 'success', data: [] })(request, response, socket);
      }
      if (making.refusedWith)
        return answer(making.refusedWith, { status: 'error', error: 'refused' })(request, response, socket);
      const data = make(JSON.parse(request.body) as RequestedItems);
      if (making.lost) return socket.resetAndDestroy();
      return answer(200, { status: 'success', data: { data, error: 'None' } })(request, response, socket);
    };
  });
  afterAll(() => paying.close());

  /** @returns the ID of the call. */
  const pay = async (how: PayoutBehavior, ...items: [phone: number, usd: number][]): Promise<string> => {
    making = how;
    const payouts = items.map(([phone, valueInUSD]) => ({
      countryToSend: 'Kenya',
      phoneNumber: `+2547123000${String(phone).padStart(2, '0')}`,
      valueInUSD,
    }));
    const momos = payouts.map((payout) => ({ ...payout, momoCode: 'MPS', reference: 'x' }));
    const { headers } = how.momo
      ? await paying.proxy.post(paying.app, '/payouts/mobile-money', { momos })
      : await paying.proxy.post(paying.app, '/payouts/airtime', { airtimes: payouts });
    making = {};
    return headers['x-call-id'] ?? '';
  };
  /** @returns the ID of a deletion without an answer. */
  const loseDeletion = async (phone: number): Promise<string> => {
    await pay({}, [phone, 1]);
    making = { lost: true };
    const body = { chiRef: listed.at(-1)?.chiRef };
    const { headers } = await paying.proxy.post(paying.app, '/account/delete-unpaid-transaction', body);
    making = {};
    return headers['x-call-id'] ?? '';
  };
  /** Outcome of a call, or the reason for its doubt. */
  const settle = async (id: string) => {
    await worker.get(ResolverService).runOnce();
    const { body } = await paying.proxy.get(paying.app, `/v1/calls/${id}`).expect(200);
    return body.doubt?.reason ?? body.outcome;
  };

  it('settles a call as not executed with a sound listing', async () => {
    await pay({}, [1, 1]);
    const id = await pay({ lost: true, only: 0 }, [2, 1]);
    await pay({}, [3, 1]);
    expect(await settle(id)).toBe('not_executed');
  });

  it('settles nothing as not executed if a clock is wrong', async () => {
    const id = await pay({ lost: true, minutes: -30 }, [5, 1]);
    await pay({ minutes: -5 }, [6, 1]);
    expect(await settle(id)).toContain('lists transactions to a recipient of this call');
    const unlisted = await pay({ lost: true, only: 0 }, [7, 1]);
    await pay({ minutes: -5 }, [8, 1]);
    expect(await settle(unlisted)).toContain("the upstream's clock may be wrong");
  });

  it('does not attribute the transaction of one call to another with the same batch_ref', async () => {
    await pay({}, [9, 1]);
    await pay({ issueID: 'the same' }, [10, 1]);
    const id = await pay({ issueID: 'the same', lost: true }, [11, 1]);
    await pay({}, [12, 1]);
    expect(await settle(id)).toBe('confirmed');
  });

  it('attributes each listed payout of a batch to one call', async () => {
    await pay({}, [13, 1]);
    const batch = await pay({ lost: true, only: 1 }, [14, 1], [15, 2]);
    const alone = await pay({ lost: true, only: 0 }, [14, 1]);
    await pay({}, [16, 1]);
    expect(await settle(alone)).toBe('not_executed');
    expect(await settle(batch)).toBe('confirmed');
    const { body } = await paying.proxy.get(paying.app, `/v1/calls/${batch}`).expect(200);
    expect(body.items?.map(({ state }) => state)).toEqual(['paid', 'not_executed']);
  });

  it('attributes one transaction to one of two equal calls, one of them sent during the read', async () => {
    await pay({}, [23, 1]);
    const id = await pay({ lost: true, only: 0 }, [24, 1]);
    let other = '';
    meanwhile = async () => (other = await pay({ lost: true }, [24, 1]));
    expect(await settle(id)).toBe('confirmed');
    meanwhile = undefined;
    await pay({}, [25, 1]);
    expect(await settle(other)).toBe('not_executed'); // its app may pay again, which makes two for two
  });

  it.each([429, 400])('confirms a lost attempt rather than one that was rejected with %s', async (status) => {
    const phone = status === 429 ? 41 : 42;
    const rejected = await pay({ refusedWith: status }, [phone, 1]);
    const lost = await pay({ lost: true }, [phone, 1]);
    expect(await settle(lost)).toBe('confirmed');
    await pay({}, [45, 1]);
    expect(await settle(rejected)).toBe('not_executed');
  });

  it.each([
    ['the listing', '/account/transactions', () => pay({ lost: true }, [43, 1])],
    ['the transaction that it deletes', '/account/transaction', () => loseDeletion(44)],
  ])('does not delay a call because %s could not be read', async (_what, path, lose) => {
    const id = await lose();
    const { mock } = jest.spyOn(BackOff.prototype, 'polled');
    const failures = () => mock.calls.flatMap(([one, , , , hasFailed]) => (one === id ? [hasFailed] : []));
    broken = path;
    await worker.get(ResolverService).runOnce();
    broken = undefined;
    expect(failures()).toEqual([true]);
    await worker.get(ResolverService).runOnce();
    expect(failures()).toEqual([true, false]);
    jest.restoreAllMocks();
  });

  it('does not treat a failed payout as executed', async () => {
    await pay({}, [17, 1]);
    const id = await pay({ lost: true, more: { status: 'FAILED' } }, [18, 1]);
    await pay({}, [19, 1]);
    expect(await settle(id)).toBe('confirmed');
    const { body } = await paying.proxy.get(paying.app, `/v1/calls/${id}`).expect(200);
    expect(body.items).toMatchObject([{ state: 'failed', upstream: { status: 'FAILED' } }]);
  });

  it('does not settle late-listed mobile money as not executed because of later airtime', async () => {
    await pay({}, [30, 1]);
    const id = await pay({ momo: true, lost: true, unlisted: true }, [31, 1]);
    await pay({}, [32, 1]);
    expect(await settle(id)).toContain('does not yet show another mobile money call of ours');
    await pay({ momo: true }, [33, 1]);
    expect(await settle(id)).toBe('not_executed');
  });

  it.each([
    ['failed', 'failed'],
    ['UNSUCCESSFUL', 'failed'],
    ['declined', 'failed'],
    ['rejected', 'failed'],
    ['refunded', 'refunded'],
    ['Reversed', 'reversed'],
    ['pending', 'pending'],
    ['AWAITING_REVIEW', 'in_doubt'],
  ])('settles a payout with the status %s as %s', async (status, state) => {
    const id = await pay({ lost: true, more: { status } }, [(recipient += 1), 1]);
    await pay({}, [40, 1]);
    expect(await settle(id)).toContain(state === 'in_doubt' ? 'which is unknown' : 'confirmed');
    const { body } = await paying.proxy.get(paying.app, `/v1/payouts/${id}`).expect(200);
    expect(body).toMatchObject({ state, item: { upstream: state === 'in_doubt' ? null : { status } } });
  });

  it('does not settle a payout as not executed if its transaction renames the recipient', async () => {
    await pay({}, [20, 1]);
    const id = await pay({ lost: true, more: { phoneNumber: undefined, email: 'ada@example.com' } }, [21, 1]);
    await pay({}, [22, 1]);
    expect(await settle(id)).toContain('another amount, time, type');
  });

  it('settles nothing as not executed if the listing begins after it', async () => {
    const id = await pay({ lost: true }, [7, 5]); // an amount of its own
    listed = [];
    await pay({}, [8, 1]);
    expect(await settle(id)).toContain('may be truncated');
  });
});
