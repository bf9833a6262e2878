import { OperationCall } from '../../access/auth/call';
import { FaultList } from '../../http/validation/fault-list';
import { DryRun } from '../../journal/dry-run';
import { SamePayment } from '../../journal/same-payments';
import { AdmissionRequest } from '../../policy/admission';
import { Problem } from '../../platform/errors/problem';
import { Served } from '../forwarding/coverage';
import { PositionedItem } from './positioned-items';
import { PreviewLocalAmount, PreviewReplay } from './preview.dto';

/** A body that is previewed, and the faults that its validation found. */
export interface PreviewedBody {
  /** Validated if there are no faults; else as it came. */
  body: unknown;
  found: FaultList;
}

/** Everything known about a request, from which its preview is made. */
export interface PreviewFacts extends PreviewedBody {
  call: OperationCall;
  /** Its items without faults of their own, with the amounts that the body does not name. */
  positioned: PositionedItem[];
  /** Without items, content and key where the body has faults: such a request has no total and repeats nothing. */
  request: AdmissionRequest;
  /** What is wrong with its headers. */
  headerProblems: Problem[];
  /** Why an amount that the body does not name could not be found out. */
  valueProblem: Problem | undefined;
  dryRun: DryRun;
  /** What it would get if its key was used before for the same request. */
  replay: PreviewReplay | Problem | undefined;
  served: Served | 'unchecked' | null;
  /** Its items that the client has paid before. */
  earlier: SamePayment[];
  /** By the item's position. */
  localAmounts: Map<number, PreviewLocalAmount>;
}
