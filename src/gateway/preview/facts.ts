import { OperationCall } from '../../access/auth/call';
import { FaultList } from '../../http/validation/faults';
import { DryRun } from '../../journal/admission/state';
import { EarlierPayment } from './earlier-payments';
import { AdmissionRequest } from '../../policy/admission';
import { Problem } from '../../platform/errors/problem';
import { Served } from '../forwarding/coverage/coverage';
import { InstanceObstacle } from '../may-pay/obstacles';
import { PositionedItem } from './positioned-items';
import { PreviewLocalAmount, PreviewReplay } from './preview.dto';

/** A body to preview, with the faults that its validation found. */
export interface PreviewedBody {
  /** Validated if there are no faults. Otherwise as received. */
  body: unknown;
  found: FaultList;
}

/** The known facts about a request, from which its preview is made. */
export interface PreviewFacts extends PreviewedBody {
  call: OperationCall;
  /** Its items without faults of their own, with amounts that the body does not state. */
  positioned: PositionedItem[];
  /** Without items, content and key if the body has faults. Such a request has no total and repeats nothing. */
  request: AdmissionRequest;
  /** The faults of its headers. */
  headerProblems: Problem[];
  /** Why the transaction that the body names is not the caller's, or its amount could not be read. */
  valueProblem: Problem | undefined;
  dryRun: DryRun;
  /** What keeps this instance from paying, besides what the dry run finds. */
  instance: InstanceObstacle | undefined;
  /** The answer that it would get because its key has been used, or why it would get none. */
  replay: PreviewReplay | Problem | undefined;
  served: Served | 'unchecked' | null;
  /** The items that the client has paid before. */
  earlier: EarlierPayment[];
  /** By the item's position. */
  localAmounts: Map<number, PreviewLocalAmount>;
}
