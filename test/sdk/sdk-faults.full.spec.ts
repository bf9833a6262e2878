import { runs } from '../support/examples/runs';
import { describePayments } from '../support/sandbox/sdk-faults';

describePayments(runs(2_000));
