import { Intent } from './checks/records';
import { Lane, Shared, submit } from './lane';

/**
 * Lets the resolver settle calls by the upstream's listing, and lets apps resend with the same key. The final
 * payments and records show whether it was right.
 * @returns the errors.
 */
export async function settleByList(shared: Shared, lanes: Lane[], intents: Intent[]): Promise<string[]> {
  const response = await shared.world.ask({
    process: 0,
    path: '/v1/reconciliation/resolver/rounds',
    key: shared.world.keys.reconciler,
  });
  if (response?.status === 500) return [`the resolver failed: ${response.text}`];
  if (response?.status !== 200) return []; // for example without its database; people settle all
  const { verdicts = [] } = response.json;
  const settled = new Set(
    verdicts.filter(({ verdict }) => verdict !== 'ambiguous').map(({ call_id }) => call_id),
  );
  const known = intents.filter(({ id, idempotencyKey }) => settled.has(id) && idempotencyKey !== null);
  await Promise.all(
    known.map(async ({ clientId, number }) => {
      const lane = lanes.find(({ client }) => client.id === clientId);
      if (lane) await submit(shared, lane, { number, submission: { process: 1, concurrent: false } });
    }),
  );
  return [];
}
