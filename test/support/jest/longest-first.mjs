import { basename } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

/** Specs, without their tiers, that take over half a minute on two busy cores, longest first. */
const LONGEST = [
  'sdk-faults',
  'console-frame',
  'database-replica',
  'console-operators',
  'upstream-ledger',
  'lying-upstream',
  'retry-habits',
  'start',
  'configuration-record',
  'quiet-account',
  'durability-epoch',
  'console-sign-in',
  'spooled-outcomes',
  'person-caps-crash',
  'permissions',
  'console-persons',
  'log-keys-running',
  'point-in-time',
  'restore-drill',
  'clocks',
  'suspension',
  'model',
  'slow-start',
  'console-sandbox',
  'console-lists',
  'sandbox-changes',
  'console-one-call',
  'search-plans',
  'console-reconciliation',
  'erase-keys',
  'reconciliation-runs',
  'search-crash',
  'console-newcomer',
  'first-start',
  'worker',
  'reconciliation-kill',
  'database-hosts',
  'durability',
  'sdk-package',
  'database-failures',
  'previous-version',
  'worker-process',
  'release',
  'log-keys',
  'cli-clients',
  'epoch-evidence',
  'console-providers',
  'resolver-faults',
  'full-disk',
  'trust',
  'console-accounts',
  'lost-payments',
  'reconciliation-flows',
  'own-ids',
  'unrecorded-outcomes',
  'example-session-page',
  'replication',
  'retention-verify',
  'fees',
];

/**
 * Runs the longest files first. Otherwise one core would idle at the end until the other finishes a long
 * file. Jest sorts by duration from the second run on. In a first run, such as every run of CI, it knows only
 * the sizes of the files.
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
