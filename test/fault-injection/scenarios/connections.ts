import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { eventually } from '../../support/payments/paying';
import { audit } from '../audit';
import { Auditor } from '../auditor';
import { OneServer, oneServer } from '../databases';
import { NO_RETRY_MS, Payments } from '../payments';
import { refusalsIn, sentIn, Span } from '../refusals';
import { brokenIn, inSeconds, inWords, Run, scaledMs, Scenario, whole } from '../scenario';
import { Stage } from '../stage';

const RATE = 40;
const USED_UP_SECONDS = 25;

/** Default of Postgres. */
const MAX_CONNECTIONS = 100;

/** Interval of the search for a connection that the product could open. */
const USE_UP_EVERY_MS = 100;

const READING_AGAIN_WITHIN_MS = 5_000;

/** Application name of the foreign connections. */
const OTHERS = 'others';

/** Ends the connections of the product. Administrators have reserved ones. */
const END_ALL = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> '${OTHERS}'`;

export const connections: Scenario = {
  name: 'connections-used-up',
  title: 'The database has no free connection',
  promised:
    'While other programs hold all connections of the server, payments are refused with 503 within ' +
    'about 2 s (`database_busy`, or `overloaded` once fewer may wait for the database) and are never ' +
    'sent later. Reads and payments go on by themselves once connections are free.',
  seconds: 60,
  run: async (run) => {
    run.say('starting');
    const database = await oneServer([`max_connections=${MAX_CONNECTIONS}`]);
    const stage = await Stage.start({ database, proxies: 2 }, run.onEnd);
    const payments = await Payments.of(stage);
    const auditor = await Auditor.of(stage);
    const { span, others } = await useUpUnderLoad(run, database, payments, auditor);
    const what = { happened: 'no connection was free', ended: 'connections were free' };
    const { sent, seen, broken } = await refusalsIn(stage, payments, [span], what);
    const busy = sentIn(payments.orders, [span]).filter(
      ({ attempts: [first] }) => first?.code === 'database_busy',
    );
    const readAgain = auditor.firstReadAfter(span.until);
    run.say('auditing');
    const { audited, complaints } = await audit(stage, payments.orders);
    return {
      did:
        `Other programs took every free connection (${others.most}), and an administrator ended those of ` +
        `the product (${others.ended} in all), for ${inSeconds(span.until - span.from)} under ${RATE} ` +
        `payments/s, each sent once (${whole(sent)} payments meanwhile, two instances)`,
      seen: [
        ...seen,
        `reading the history again ${inSeconds(readAgain)} after connections were free`,
        ...inWords(audited),
      ],
      broken: [
        ...broken,
        ...(busy.length === 0 ? ['no payment was refused with database_busy'] : []),
        ...(readAgain > READING_AGAIN_WITHIN_MS
          ? [`the history could be read only ${inSeconds(readAgain)} after connections were free`]
          : []),
        ...brokenIn(audited, complaints),
      ],
    };
  },
};

async function useUpUnderLoad(run: Run, database: OneServer, payments: Payments, auditor: Auditor) {
  const span: Span = { from: 0, until: 0 };
  const others = new Others(database);
  run.onEnd(() => others.release());
  await payments.during(
    RATE,
    async () => {
      await sleep(3_000);
      run.say('other programs take all connections');
      await others.useUp();
      span.from = performance.now();
      run.say('no connection is free');
      const usedUpMs = scaledMs(USED_UP_SECONDS, run);
      await Promise.all([auditor.readFor(usedUpMs), others.keepUsedUp(usedUpMs)]);
      span.until = performance.now();
      await others.release();
      run.say('connections are free');
      await auditor.readFor(6_000);
    },
    NO_RETRY_MS,
  );
  return { span, others };
}

/** Idle connections that leave none to the product. */
class Others {
  /** Maximum number of open ones. */
  most = 0;
  /** Number of ended connections of the product. */
  ended = 0;
  private readonly held: Client[] = [];

  constructor(private readonly database: OneServer) {}

  /** Takes every connection. The product opens any free one, so its own are ended until it has none. */
  async useUp(): Promise<void> {
    for (let some = Infinity; some > 0; this.ended += some) {
      while (await this.take());
      some = await this.endThoseOfTheProduct();
    }
  }

  async keepUsedUp(ms: number): Promise<void> {
    for (const end = performance.now() + ms; performance.now() < end; await sleep(USE_UP_EVERY_MS))
      await this.useUp();
  }

  async release(): Promise<void> {
    await Promise.all(this.held.splice(0).map((client) => client.end().catch(() => undefined)));
  }

  /** Opens a connection. Resolves to false if the server refuses it. */
  private async take(): Promise<boolean> {
    const client = new Client({ connectionString: this.database.url, application_name: OTHERS });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch {
      return false;
    }
    this.held.push(client);
    this.most = Math.max(this.most, this.held.length);
    return true;
  }

  private async endThoseOfTheProduct(): Promise<number> {
    let ended = 0;
    // Connections being refused occupy even the reserved slots.
    await eventually(() =>
      this.database.query(END_ALL).then(
        ({ length }) => {
          ended = length;
          return true;
        },
        () => false,
      ),
    );
    return ended;
  }
}
