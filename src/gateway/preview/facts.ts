import { OperationCall } from '../../access/auth/call';
import { FaultList } from '../../http/validation/faults';
import { DryRun } from '../../journal/admission/state';
import { Problem } from '../../platform/errors/problem';
import { AdmissionRequest } from '../../policy/admission';
import { Destinations } from '../forwarding/coverage/destinations';
import { InstanceObstacle } from '../may-pay/obstacles';
import { EarlierPayment } from './earlier-payments';
import { PositionedItem } from './positioned-items';
import { PreviewLocalAmount, PreviewReplay } from './preview.dto';

/** A body to preview, with the faults that its validation found. */
export interface PreviewedBody {
  /** Validated if there are no faults. Otherwise as received. */
  body: unknown;
  found: FaultList;
}

/** The facts about a request for its preview. */
export interface PreviewFacts extends PreviewedBody {
  call: OperationCall;
  /** Its items without faults of their own, including amounts that the body omits. */
  positioned: PositionedItem[];
  /** Without items, content and key if the body has faults. It has no total then, and repeats nothing. */
  request: AdmissionRequest;
  /** The faults of its headers. */
  headerProblems: Problem[];
  /** The reason why the caller may not name the transaction, or its amount could not be read. */
  valueProblem: Problem | undefined;
  dryRun: DryRun;
  /** The obstacle of this instance. Those of the request are in the dry run. */
  instance: InstanceObstacle | undefined;
  /** The answer to its used key, or the refusal. */
  replay: PreviewReplay | Problem | undefined;
  served: Destinations | 'unchecked' | null;
  /** Items that the client has paid before. */
  earlier: EarlierPayment[];
  /** By the item's position. */
  localAmounts: Map<number, PreviewLocalAmount>;
}
