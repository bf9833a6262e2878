import type { Owner } from '../account/authentication';
import type { FaultStrike } from '../faults/faults';

/** A request in the ground truth, before any check. */
export interface ArrivedRequest {
  seq: bigint;
  /** The owner of its key. Null for a missing or unknown key. */
  owner: Owner | null;
  /** Its body in the interface's words, for `readBody`. */
  body: unknown;
  fault: FaultStrike | undefined;
}

/** A request that is carried out, with the `chiRef`s that it created or changed. */
export interface Processed {
  request: ArrivedRequest;
  chiRefs: string[];
}
