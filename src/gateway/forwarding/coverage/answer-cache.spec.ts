import { RunningConfig } from '../../../platform/config/config';
import { Answer } from '../../upstream/answers/answer';
import { TimedAnswer } from '../../upstream/upstream-account';
import { AnswerCache } from './answer-cache';

const cacheFor = (infoCacheTtlSeconds: number) => new AnswerCache({ infoCacheTtlSeconds } as RunningConfig);

function answered(data: unknown, kind: 'succeeded' | 'rejected' = 'succeeded'): TimedAnswer {
  const body = Buffer.from(JSON.stringify({ status: 'success', data }));
  const answer: Answer = { kind, failure: null, status: 200, body, contentType: null, retryAfter: null };
  return { answer, sentAt: new Date(), answeredAt: new Date(), upstreamMs: 1, tries: [] };
}

/** An upstream that answers on demand and counts its requests. */
function upstream() {
  const waiting: ((answer: TimedAnswer) => void)[] = [];
  const fetch = () => new Promise<TimedAnswer>((resolve) => waiting.push(resolve));
  return { fetch, waiting };
}

describe('AnswerCache', () => {
  it('shares the first fetch with concurrent readers', async () => {
    const cache = cacheFor(300);
    const { fetch, waiting } = upstream();
    const reads = ['first', 'second', 'third'].map((call) => cache.get('/info/assets', call, fetch));
    expect(waiting).toHaveLength(1);
    waiting[0]?.(answered([1]));
    const answers = await Promise.all(reads);
    expect(answers.map(({ shared }) => shared)).toEqual([
      null,
      { fetchedBy: 'first', age: 0 },
      { fetchedBy: 'first', age: 0 },
    ]);
    expect(new Set(answers.map(({ answer }) => answer.body)).size).toBe(1);
  });

  it('returns a cached answer only for the same request', async () => {
    const cache = cacheFor(300);
    await cache.get('/a?x=1', 'first', () => Promise.resolve(answered('a')));
    const same = await cache.get('/a?x=1', 'second', () => Promise.resolve(answered('never')));
    expect([same.shared?.fetchedBy, String(same.answer.body)]).toEqual([
      'first',
      '{"status":"success","data":"a"}',
    ]);
    const other = await cache.get('/a?x=2', 'third', () => Promise.resolve(answered('b')));
    expect(other.shared).toBeNull();
    expect(String(cache.peek('/a?x=2'))).toContain('"b"');
    expect(cache.peek('/a?x=3')).toBeUndefined();
  });

  it.each<[string, number, TimedAnswer]>([
    ['a refusal', 300, answered(null, 'rejected')],
    ['any answer with a TTL of 0', 0, answered('a')],
    ['an expired conversion', 300, answered({ validUntil: new Date(Date.now() - 1).toISOString() })],
  ])('does not cache %s', async (_kind, ttl, answer) => {
    const cache = cacheFor(ttl);
    await cache.get('/a', 'first', () => Promise.resolve(answer));
    expect(cache.peek('/a')).toBeUndefined();
    expect((await cache.get('/a', 'second', () => Promise.resolve(answered('new')))).shared).toBeNull();
  });

  it.each([
    ['a future validUntil', { validUntil: new Date(Date.now() + 3_600_000).toISOString() }],
    ['text as validUntil', { validUntil: 'soon' }],
    ['a number as validUntil', { validUntil: 17 }],
    ['a list', ['Kenya']],
  ])('caches an answer with %s', async (_kind, data) => {
    const cache = cacheFor(300);
    await cache.get('/a', 'first', () => Promise.resolve(answered(data)));
    expect(cache.peek('/a')).toBeDefined();
  });

  it('keeps the latest answers, up to a limit', async () => {
    const cache = cacheFor(300);
    for (let i = 0; i <= 1_000; i++) await cache.get(`/a?x=${i}`, 'call', () => Promise.resolve(answered(i)));
    expect(cache.peek('/a?x=0')).toBeUndefined();
    expect(cache.peek('/a?x=1')).toBeDefined();
  });

  it('copies bytes, because a small slice would retain a large buffer', async () => {
    const cache = cacheFor(300);
    await cache.get('/a', 'call', () => Promise.resolve(answered('a')));
    expect(cache.peek('/a')?.buffer.byteLength).toBe(cache.peek('/a')?.length);
  });

  it('returns no unrecorded answer, and fetches again', async () => {
    const cache = cacheFor(300);
    const lost = () => Promise.reject(new Error('not recorded'));
    const reads = ['first', 'second'].map((call) => cache.get('/a', call, lost));
    await expect(Promise.all(reads)).rejects.toThrow('not recorded');
    expect(cache.peek('/a')).toBeUndefined();
    expect((await cache.get('/a', 'third', () => Promise.resolve(answered('a')))).shared).toBeNull();
  });

  it('skips an answer that is larger than the whole cache', async () => {
    const cache = cacheFor(300);
    await cache.get('/small', 'first', () => Promise.resolve(answered('a')));
    await cache.get('/huge', 'second', () => Promise.resolve(answered('x'.repeat(65 * 1_024 * 1_024))));
    expect(cache.peek('/huge')).toBeUndefined();
    expect(cache.peek('/small')).toBeDefined();
  });
});
