import { setTimeout as sleep } from 'node:timers/promises';
import { UNSAFE_SETTINGS } from '../../../src/continuity/fence/durability.service';
import { FillableDatabase, mayMount, startPostgresOnSmallDisk } from '../../support/databases/full-disk';
import { audit } from '../audit';
import { Auditor } from '../auditor';
import { NO_RETRY_MS, Payments } from '../payments';
import { sentIn, Span } from '../refusals';
import { brokenIn, countAnswers, inSeconds, inWords, Run, scaledMs, Scenario, whole } from '../scenario';
import { Stage } from '../stage';

const RATE = 40;
const FULL_SECONDS = 30;
const DISK_MB = 500;

/** As in production. The tests' fleet reserves none. */
const RESERVE_MB = 64;

const PAYING_AGAIN_WITHIN_MS = 10_000;

export const diskFull: Scenario = {
  name: 'disk-full',
  title: 'The disk of the database is full',
  promised:
    'Payments are refused before they are sent, and the outcomes of earlier ones still fit. Auditors ' +
    'can read. Payments go on by themselves once there is space.',
  seconds: 80,
  missing: () => (mayMount() ? undefined : 'it needs the right to mount a small file system'),
  run: async (run) => {
    run.say('starting');
    const disk = await startPostgresOnSmallDisk(DISK_MB);
    const database = { ...disk.database, close: () => disk.close() };
    // A file system in memory is durable only while the machine runs.
    const env = { DATABASE_ALLOW_UNSAFE: UNSAFE_SETTINGS.join(), DATABASE_RESERVE_MB: String(RESERVE_MB) };
    const stage = await Stage.start({ database, proxies: 2, env }, run.onEnd);
    const payments = await Payments.of(stage);
    const auditor = await Auditor.of(stage);
    const span = await fillUnderLoad(run, payments, auditor, disk);
    const during = sentIn(payments.orders, [span]);
    const again = payments.firstDoneAfter(span.until);
    const inDoubt = payments.orders.filter(
      ({ attempts: [first] }) => first?.code === 'outcome_unknown',
    ).length;
    const { reads } = auditor;
    const unread = reads.flatMap(({ status }) => (status === 200 ? [] : [status]));
    run.say('auditing');
    const { audited, complaints } = await audit(stage, payments.orders);
    return {
      did:
        `A file system of ${DISK_MB} MB filled to the last block for ${inSeconds(span.until - span.from)} ` +
        `under ${RATE} payments/s, each sent once`,
      seen: [
        `answers while it was full: ${countAnswers(during)}`,
        `${whole(inDoubt)} answers were lost in all (outcome unknown until the disk had space)`,
        `${reads.length - unread.length} of ${reads.length} reads of the history answered`,
        `paying again ${inSeconds(again)} after there was space`,
        ...inWords(audited),
      ],
      broken: [
        ...(unread.length > 0
          ? [
              `${unread.length} of ${reads.length} reads failed while the disk was full ` +
                `(${[...new Set(unread)].join(', ')})`,
            ]
          : []),
        ...(again > PAYING_AGAIN_WITHIN_MS
          ? [`payments went on only ${inSeconds(again)} after there was space`]
          : []),
        ...brokenIn(audited, complaints),
      ],
    };
  },
};

/** Resolves to the period in which the disk was full. An auditor reads meanwhile. */
async function fillUnderLoad(
  run: Run,
  payments: Payments,
  auditor: Auditor,
  disk: FillableDatabase,
): Promise<Span> {
  const span = { from: 0, until: 0 };
  await payments.during(
    RATE,
    async () => {
      await sleep(3_000);
      run.say('the disk is full');
      await disk.fill();
      span.from = performance.now();
      await auditor.readFor(scaledMs(FULL_SECONDS, run));
      await disk.free();
      span.until = performance.now();
      run.say('there is space');
      await sleep(10_000);
    },
    NO_RETRY_MS,
  );
  return span;
}
