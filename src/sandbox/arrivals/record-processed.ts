import { Work } from '../database';
import { scheduleFaultChanges } from '../faults/effects';
import type { Arrivals } from './arrivals';
import type { Processed } from './arrived-request';

/** Records in `work` that it carries requests out, and schedules the changes of their faults. */
export async function recordProcessed(arrivals: Arrivals, work: Work, processed: Processed[]): Promise<void> {
  await arrivals.processed(
    work,
    processed.map(({ request, chiRefs }) => ({ seq: request.seq, chiRefs })),
  );
  for (const { request, chiRefs } of processed) await scheduleFaultChanges(work, request.fault, chiRefs);
}
