import crypto from 'node:crypto';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { FastifyReply } from 'fastify';
import { CredentialRecheckService } from '../../access/auth/credential-recheck.service';
import { QuotasService } from '../quotas/quotas.service';
import { EventStreams } from './event-streams.service';

const LONG_MS = 3_600_000;

describe('a stream of events', () => {
  afterEach(() => jest.restoreAllMocks());

  /** Opens a stream of different updates. */
  function open(everyMs: number, quotas: { isPaying: boolean; open: number }) {
    const streams = new EventStreams(
      { watch: () => () => Promise.resolve(true) } as unknown as CredentialRecheckService,
      {
        take: () => () => undefined,
        inUse: () => quotas.open,
        isPaying: quotas.isPaying,
      } as unknown as QuotasService,
    );
    const reply = {
      raw: new PassThrough(),
      request: { call: {} },
      header: () => reply,
    } as unknown as FastifyReply;
    const seen = { asked: 0, said: '', end: () => streams.onModuleDestroy() };
    const stream = streams.open(reply, everyMs, () => {
      seen.asked += 1;
      return Promise.resolve({ event: `event: ${seen.asked}\n\n`, isLast: false });
    });
    stream.on('data', (data: Buffer) => (seen.said += data.toString()));
    return seen;
  }

  it('asks again after a random part of its interval, and then after all of it', async () => {
    const random = jest.spyOn(crypto, 'randomInt').mockImplementation(() => 5);
    const seen = open(LONG_MS, { isPaying: false, open: 300 });
    while (seen.asked < 2) await sleep(5);
    await sleep(20); // a third question would follow as soon
    expect(random).toHaveBeenCalledWith(LONG_MS);
    expect(seen.said).toBe('retry: 2000\n\nevent: 1\n\nevent: 2\n\n');
    seen.end();
  });

  it.each([
    { open: 100, intervalMs: 2_000 },
    { open: 200, intervalMs: 4_000 },
    { open: 1_000, intervalMs: 6_000 },
  ])(
    'asks every $intervalMs ms while payments arrive and $open streams are open',
    async ({ open: count, intervalMs }) => {
      const random = jest.spyOn(crypto, 'randomInt').mockImplementation(() => LONG_MS);
      const seen = open(2_000, { isPaying: true, open: count });
      while (seen.asked < 1) await sleep(5);
      expect(random).toHaveBeenCalledWith(intervalMs);
      seen.end();
    },
  );
});
