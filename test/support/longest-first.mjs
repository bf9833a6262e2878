import TestSequencer from '@jest/test-sequencer';
import { basename } from 'node:path';

/** Spec files that take more than ten seconds, longest first, without their tier. A missing file does no harm. */
const LONGEST = [
  'sdk-faults',
  'console-operators',
  'console-frame',
  'database-replica',
  'spooled-outcomes',
  'lying-upstream',
  'search-plans',
  'start',
  'overview',
  'console-lists',
  'retry-habits',
  'full-disk',
  'replication',
  'durability-epoch',
  'console-newcomer',
  'unrecorded-outcomes',
  'reconciliation-following',
  'database-hosts',
  'console-one-call',
  'point-in-time',
  'suspension',
  'console-sandbox',
  'configuration-record',
  'first-start',
  'epoch-evidence',
  'recovered-calls',
  'restore-drill',
  'worker-process',
  'database-failures',
  'shares',
  'console-reconciliation',
  'reconciliation-kill',
];

/**
 * Runs the longest files first. Otherwise one core would wait at the end for a file that the other started last. Jest
 * does so by itself from the second run on. In a first run, such as every run of CI, it only knows the sizes of the
 * files.
 */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const place = LONGEST.indexOf(basename(path).replace(/(\.full)?\.spec\.ts$/, ''));
      return place === -1 ? LONGEST.length : place;
    };
    return super.sort(tests).sort((one, other) => rank(one) - rank(other));
  }
}
