import { runs } from './support/runs';
import { describePayments } from './support/sdk-faults';

describePayments(runs(2_000));
