import TestSequencer from '@jest/test-sequencer';
import { basename } from 'node:path';

/** Spec files that take more than ten seconds, longest first. A missing file does no harm. */
const LONGEST = [
  'model',
  'start',
  'console-operators',
  'console-frame',
  'console-lists',
  'console-one-call',
  'overview',
  'console-sandbox',
  'console-reconciliation',
  'sick-upstream',
  'console-newcomer',
  'durability',
  'frozen-database',
  'crash-points',
  'reconciliation-completeness',
  'coverage',
  'cli-reconcile',
  'faults',
  'steps',
  'info',
  'reconciliation-kill',
  'worker-process',
  'worker',
  'reconciliation-runs',
  'previous-version',
  'replication',
  'failover',
  'first-start',
  'overdue',
  'verify-receipt-program',
];

/**
 * Runs the longest files first. Otherwise one core would wait at the end for a file that the other started last. Jest
 * does so by itself from the second run on. In a first run, such as every run of CI, it only knows the sizes of the
 * files.
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
