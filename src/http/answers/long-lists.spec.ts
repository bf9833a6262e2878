import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import fastify from 'fastify';
import { runs } from '../../../test/support/examples/runs';
import { runInTurns } from '../../platform/cooperative-task';
import { writeLongLists } from './long-lists';

describe('answers with long lists', () => {
  let payload: unknown;
  const server = fastify();
  writeLongLists(server, () => runInTurns);
  server.get('/', () => payload);
  afterAll(() => server.close());

  it('are what JSON.stringify() returns', async () => {
    const element = fc.oneof(fc.object({ withDate: true }), fc.jsonValue(), fc.constant(undefined));
    const list = fc.array(element, { minLength: 15, maxLength: 70 });
    const answer = fc.dictionary(fc.string({ unit: 'binary' }), fc.oneof(list, element), { maxKeys: 5 });
    const property = fc.asyncProperty(
      fc.oneof({ weight: 9, arbitrary: answer }, fc.array(list)),
      async (value) => {
        payload = value;
        const { body, headers } = await server.inject('/');
        expect(body).toBe(JSON.stringify(value));
        expect(headers).toMatchObject({
          'content-type': 'application/json; charset=utf-8',
          'content-length': String(Buffer.byteLength(body)),
        });
      },
    );
    await fc.assert(property, { numRuns: runs(300) });
  });

  it('leave turns of the event loop to others', async () => {
    payload = { rows: Array.from({ length: 200 }, (_, row) => ({ row })) };
    let turns = 0;
    let isAnswered = false;
    const answered = server.inject('/').then(() => (isAnswered = true));
    for (; !isAnswered; turns += 1) await nextTurn();
    await answered;
    expect(turns).toBeGreaterThanOrEqual(10);
  });
});
