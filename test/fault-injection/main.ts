import { Scenario } from './scenario';
import { connections } from './scenarios/connections';
import { diskFull } from './scenarios/disk-full';
import { failover } from './scenarios/failover';
import { frozen } from './scenarios/frozen';
import { frozenStandby } from './scenarios/frozen-standby';
import { kills } from './scenarios/kills';
import { mixed } from './scenarios/mixed';
import { overload } from './scenarios/overload';
import { patroni } from './scenarios/patroni';
import { payroll } from './scenarios/payroll';
import { rolling } from './scenarios/rolling';

/** All scenarios, in the order of the report. */
export const SCENARIOS: Scenario[] = [
  ...kills,
  payroll,
  mixed,
  rolling,
  overload,
  frozen,
  frozenStandby,
  connections,
  diskFull,
  failover,
  patroni,
];
