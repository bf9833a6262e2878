import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { INestApplicationContext } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { restoreFromCopies } from '../../../src/journal/recovery/recovery';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { answer } from '../../support/network/fake-upstream';
import { copiedIn, copyAlone } from '../../support/payments/lost-calls';
import { eventually, PaymentScene, PHONE, startPaying } from '../../support/payments/paying';
import { tamper } from '../../support/records/sealing';

const HOUR_MS = 3_600_000;
const TIMEOUTS = { upstreamTimeoutMs: 30_000, upstreamTimeouts: new Map<string, number>() };

/** The proxy was killed before an answer, and the database is recovered hours after the payment. */
describe('a call restored without its outcome', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-doubts-'));
  const listed: object[] = [];
  let paying: PaymentScene;
  let worker: INestApplicationContext;

  const list = (hoursAgo: number, transaction: object) => {
    const chiRef = `ref ${listed.length}`;
    const issueDate = new Date(Date.now() - hoursAgo * HOUR_MS).toISOString();
    const listedNow = {
      chiRef,
      id: `id ${chiRef}`,
      issueID: `issue ${chiRef}`,
      issueDate,
      status: 'paid',
      ...transaction,
    };
    listed.push(listedNow);
    return { data: [listedNow], error: 'None' };
  };

  beforeAll(async () => {
    paying = await startPaying({ dataDir, resolverQuietSeconds: 3_600 });
    worker = await paying.proxy.startWorker();
    worker.get(PollService).rules.quietMs = 0;
    const paid: Record<string, object> = {
      '/payouts/airtime': { type: 'airtime', valueInUSD: 2.5, phoneNumber: PHONE },
      '/account/transfer': { type: 'transfer', valueInUSD: 1, receiver: 'sub-1' },
    };
    paying.upstream.behaviour = (request, response, socket) => {
      const path = Object.keys(paid).find((one) => request.url.endsWith(one));
      const data = path === undefined ? listed : list(0, paid[path] ?? {});
      return answer(200, { status: 'success', data })(request, response, socket);
    };
  });
  afterAll(async () => {
    await paying.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const send = async (path: string, body: object) =>
    (await paying.proxy.post(paying.app, path, body).expect(200)).headers['x-call-id'] ?? '';

  /** Restores a call of thirty hours ago, one hour ago: a copy with its own ID and time. */
  async function restoreLike(model: string): Promise<string> {
    await eventually(() =>
      copiedIn(dataDir).some((line) => line.includes('"kind":"intent"') && line.includes(model)),
    );
    const at = new Date(Date.now() - 30 * HOUR_MS);
    const id = uuidv7({ msecs: at.getTime() });
    const gone = copyAlone(dataDir, model, join(dataDir, id));
    const line = copiedIn(gone).find((one) => one.includes('"kind":"intent"')) ?? '';
    const old = line
      .replaceAll(model, id)
      .replace(/"received_at":"[^"]+"/, `"received_at":"${at.toISOString()}"`);
    writeFileSync(join(gone, 'copies', '2026-11-24.jsonl'), `${old}\n`);
    await restoreFromCopies(paying.proxy.app.get(PrismaService), [gone], TIMEOUTS);
    await tamper(
      paying.proxy.database,
      `UPDATE intent SET recorded_at = now() - interval '1 hour' WHERE id = '${id}'`,
    );
    return id;
  }

  const AIRTIME = { airtimes: [{ countryToSend: 'Kenya', phoneNumber: PHONE, valueInUSD: 2.5 }] };
  const TRANSFER = { receiver: PHONE, amount: 1 };

  it.each<[string, string, object, object]>([
    ['a payout', '/payouts/airtime', AIRTIME, { type: 'airtime', valueInUSD: 2.5, phoneNumber: PHONE }],
    [
      'a transfer to a contact',
      '/account/transfer',
      TRANSFER,
      { type: 'transfer', valueInUSD: 1, receiver: PHONE },
    ],
  ])(
    'stays in doubt if the upstream lists a candidate from before the restore: %s',
    async (_what, path, body, paid) => {
      list(60, { ...paid, phoneNumber: '+254712345000', receiver: undefined });
      const model = await send(path, body);
      list(30, paid); // more than a day before the restore, which is the error of another time zone
      const id = await restoreLike(model);
      await send(path, body);
      await worker.get(ResolverService).runOnce();
      const call = (await paying.proxy.get(paying.app, `/v1/calls/${id}`).expect(200)).body;
      expect([call.outcome, call.doubt?.verdict]).toEqual(['unknown', 'ambiguous']);
    },
  );
});
