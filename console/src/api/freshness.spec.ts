import { Freshness } from './freshness';
import { ApiProblem } from './problem';

// Only the types in use. The full types would pull React's element types into the browser tests.
interface Queries {
  QueryClient: new (options: object) => { clear(): void };
  QueryObserver: new (
    queries: object,
    options: object,
  ) => { subscribe(listener: () => void): () => void; refetch(): Promise<unknown> };
}
const { QueryClient, QueryObserver } = jest.requireActual<Queries>('@tanstack/react-query');
const { watchQueries } = jest.requireActual<{
  watchQueries: (queries: object, freshness: Freshness) => void;
}>('./stale-queries');

const answered = (status: number) => new ApiProblem({ status, detail: 'x' } as never);

describe('Freshness', () => {
  it('reports when the oldest stale data was last confirmed', () => {
    const freshness = new Freshness();
    expect(freshness.read()).toBeUndefined();
    freshness.markStale('one', 20);
    freshness.markStale('other', 10);
    freshness.markStale('never shown', undefined);
    expect(freshness.read()).toEqual({ since: 10 });
    expect(freshness.read()).toBe(freshness.read());
    for (const source of ['one', 'other']) freshness.markFresh(source);
    expect(freshness.read()).toEqual({ since: undefined });
    freshness.markFresh('never shown');
    expect(freshness.read()).toBeUndefined();
  });

  it.each([
    ['is unreachable', new ApiProblem(undefined), true],
    ['has no database', answered(503), true],
    ['is behind a broken gateway', answered(502), true],
    ['rejects the request', answered(403), false],
    ['does not know the resource', answered(404), false],
  ])('tracks a query that fails because the proxy %s', async (_why, error, isOut) => {
    const freshness = new Freshness();
    const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 0 } } });
    watchQueries(queries, freshness);
    let answer: () => Promise<string> = () => Promise.resolve('here');
    const observer = new QueryObserver(queries, { queryKey: ['a'], queryFn: () => answer() });
    const leave = observer.subscribe(() => undefined);
    await observer.refetch();
    expect(freshness.read()).toBeUndefined();
    answer = () => Promise.reject(error);
    await observer.refetch();
    expect(freshness.read()).toEqual(isOut ? { since: expect.any(Number) } : undefined);
    answer = () => Promise.resolve('again');
    await observer.refetch();
    expect(freshness.read()).toBeUndefined();
    answer = () => Promise.reject(error);
    await observer.refetch();
    leave();
    expect(freshness.read()).toBeUndefined();
    queries.clear();
  });
});
