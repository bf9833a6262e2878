import TestSequencer from '@jest/test-sequencer';
import { basename } from 'node:path';

/** Spec files that take more than ten seconds, the longest first; a name that is gone does no harm. */
const LONGEST = [
  'model',
  'start',
  'frozen-database',
  'console-operate',
  'console-calls',
  'console-call',
  'console-newcomer',
  'console-reconciliation',
  'console-approvals',
  'console-overview',
  'console',
  'upstream-content',
  'durability',
  'crash-points',
  'pages',
  'interface-walk',
  'interface-walk-observed',
  'faults',
  'coverage',
  'info',
  'sick-upstream',
  'cli-reconcile',
  'cli-approvals',
  'reconciliation-completeness',
];

/**
 * Begins with what takes longest, or one core would wait at the end for a file that the other began last. Jest does so by
 * itself from the second run on; of a first one, such as every run of CI, it knows only how long the files are to read.
 */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const place = LONGEST.indexOf(basename(path, '.spec.ts'));
      return place === -1 ? LONGEST.length : place;
    };
    return super.sort(tests).sort((one, other) => rank(one) - rank(other));
  }
}
