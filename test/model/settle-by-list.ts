import { Lane, Shared, submit } from './lane';
import { Intent } from './records';

/**
 * The resolver looks at what the upstream lists, and apps ask once more, with the same key, for what it settled. Whether it was
 * right is seen in what is paid and recorded in the end.
 * @returns what went wrong with that.
 */
export async function settleByList(shared: Shared, lanes: Lane[], intents: Intent[]): Promise<string[]> {
  const told = await shared.world.ask({
    process: 0,
    path: '/v1/reconciliation/resolver/rounds',
    key: shared.world.keys.reconciler,
  });
  if (told?.status !== 200) return [`the resolver could not look: ${told?.text}`];
  const { failure, verdicts } = told.json as {
    failure: string | null;
    verdicts: { call_id: string; verdict: string }[];
  };
  if (failure !== null) return [`the resolver could not see the listing: ${failure}`];
  const settled = new Set(verdicts.filter(({ verdict }) => verdict !== 'ambiguous').map(({ call_id }) => call_id));
  const known = intents.filter(({ id, idempotencyKey }) => settled.has(id) && idempotencyKey !== null);
  await Promise.all(
    known.map(async ({ clientId, number }) => {
      const lane = lanes.find(({ client }) => client.id === clientId);
      if (lane) await submit(shared, lane, { number, submission: { process: 1, twin: false } });
    }),
  );
  return [];
}
