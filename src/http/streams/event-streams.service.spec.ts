import { FastifyReply } from 'fastify';
import crypto from 'node:crypto';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { StandingService } from '../../access/auth/standing.service';
import { SharesService } from '../shares/shares.service';
import { EventStreams } from './event-streams.service';

const LONG_MS = 3_600_000;

describe('a stream of events', () => {
  afterEach(() => jest.restoreAllMocks());

  it('asks again after a random part of its interval, and then after all of it', async () => {
    const random = jest.spyOn(crypto, 'randomInt').mockImplementation(() => 5);
    const streams = new EventStreams(
      { watch: () => () => Promise.resolve(true) } as unknown as StandingService,
      { take: () => () => undefined } as unknown as SharesService,
    );
    const reply = { raw: new PassThrough(), request: { call: {} }, header: () => reply } as unknown as FastifyReply;
    let asked = 0;
    const stream = streams.open(reply, LONG_MS, () => {
      asked += 1;
      return Promise.resolve({ event: `event: ${asked}\n\n`, isLast: false });
    });
    let said = '';
    stream.on('data', (data: Buffer) => (said += data.toString()));
    while (asked < 2) await sleep(5);
    await sleep(20); // a third question would follow as soon
    expect(random).toHaveBeenCalledWith(LONG_MS);
    expect(said).toBe('retry: 2000\n\nevent: 1\n\nevent: 2\n\n');
    streams.onModuleDestroy();
  });
});
