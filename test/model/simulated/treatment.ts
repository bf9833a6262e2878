import fc from 'fast-check';
import type { OperationName } from '../bodies';
import type { LogicalRequest, Schedule } from '../schedule';
import { HONEST, isLost, lie as anyLie, lieOf } from './lies';

export interface SimulatedTreatment {
  /** Whose recipient it pays: a person of its own, or one of all requests of the schedule. */
  person: 'own' | 'shared';
  /** Name of the lie about it. Null for an honest answer. */
  lie: string | null;
  /** Whether the upstream lies about every submission, or only about the first. */
  isLasting: boolean;
}

export const treatment: fc.Arbitrary<SimulatedTreatment> = fc.record({
  person: fc.constantFrom('own', 'shared'),
  lie: anyLie,
  isLasting: fc.boolean(),
});

/** A request before its upstream is known. */
export type DrawnRequest = Omit<LogicalRequest, 'simulated'> & { treatment: SimulatedTreatment };

/** Operations that the simulated upstream has, in place of the others. */
const SIMULATED: Partial<Record<OperationName, OperationName>> = {
  'POST /wallets/transfer': 'POST /account/transfer',
  'POST /send': 'POST /payouts/airtime',
  'POST /payouts/initiate-credit': 'POST /payouts/credit',
  'POST /collections/mobile-money/collect': 'POST /payouts/mobile-money',
  'POST /sub-account/create': 'POST /payouts/airtime',
};

/** Amount of all requests whose answers are lost, in tenths of a US dollar. Equal batches share a name. */
const LOST_TENTHS = 5;

/** Returns a request as its upstream can carry it out. */
export function atUpstream(
  { treatment: simulated, ...request }: DrawnRequest,
  upstream: Schedule['upstream'],
): LogicalRequest {
  if (upstream === 'sandbox') return { ...request, simulated: null };
  const lie = simulated.lie === null ? HONEST : lieOf(simulated.lie);
  const { items = request.items, answer } = lie;
  const known = SIMULATED[request.operation] ?? request.operation;
  // A transfer has one item, and its success need not name a transaction.
  const isPayout = items === 3 || answer === 'names-nothing';
  const operation = isPayout && known === 'POST /account/transfer' ? 'POST /payouts/credit' : known;
  const sent = { ...request, operation, items, magic: null, simulated };
  return isLost(lie) ? { ...sent, tenths: LOST_TENTHS, simulated: { ...simulated, person: 'own' } } : sent;
}
