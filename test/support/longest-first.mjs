import TestSequencer from '@jest/test-sequencer';
import { basename } from 'node:path';

/** Spec files that take more than ten seconds, longest first. A missing file does no harm. */
const LONGEST = [
  'model',
  'start',
  'frozen-database',
  'console-operators',
  'console-lists',
  'console-one-call',
  'console-frame',
  'console-newcomer',
  'console-sandbox',
  'console-reconciliation',
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
