import { createHmac } from 'node:crypto';
import Decimal from 'decimal.js';
import { Behaviour, EventSettings } from '../behaviour/behaviour';
import { Database } from '../database';
import { shownStatus } from '../transactions/status';

const POLL_MS = 100;
const BATCH = 100;
const ANSWER_TIMEOUT_MS = 10_000;
const RETRY_AFTER_MS = [1_000, 5_000, 30_000, 120_000, 600_000]; // No more attempts follow.

/** One attempt to deliver one event. */
interface Attempt {
  at: string;
  httpStatus: number | null;
  /** Failure code of an attempt without a status. */
  error: string | null;
}

/** An event as the control interface shows it. */
interface ListedEvent {
  id: string;
  status: string;
  transactionId: string;
  chiRef: string;
  changedAt: Date;
  /** Time of the next attempt. Null once no more follow. */
  dueAt: Date | null;
  deliveredAt: Date | null;
  attempts: Attempt[];
}

/**
 * Sends each status change to the address of its account, or to `behaviour.events.url`. A trigger writes the
 * changes into the table `events`. Deliveries are sequential: a slow receiver delays events, never a payout.
 */
export class Events {
  private stopped = new AbortController();
  private delivering: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  /** Whether any account has its own address. */
  private accountsListen = false;

  constructor(
    private readonly database: Database,
    private readonly behaviour: Behaviour,
  ) {}

  /** Starts the deliveries, also after a stop. */
  async start(): Promise<void> {
    this.stopped = new AbortController();
    this.deliverSoon(0); // First, because the next step may fail.
    await this.listen();
  }

  /** Aborts the delivery in progress. Due events remain for the next start. */
  async stop(): Promise<void> {
    this.stopped.abort();
    clearTimeout(this.timer);
    await this.delivering;
  }

  /** Applies a changed address. Status changes become events only while they have a receiver. */
  async listen(): Promise<void> {
    const wanted = this.behaviour.events.url !== '';
    if (wanted) await this.database.eventsWanted.createMany({ data: [{ wanted }], skipDuplicates: true });
    else await this.database.eventsWanted.deleteMany();
    this.accountsListen = (await this.database.account.count({ where: { eventsUrl: { not: null } } })) > 0;
  }

  /** Lists the newest events, newest first. */
  list(limit: number) {
    return this.database.$queryRaw<ListedEvent[]>`
      SELECT e.id, c.status, t.id AS "transactionId", t.chi_ref AS "chiRef", c.changed_at AS "changedAt",
        e.due_at AS "dueAt", e.delivered_at AS "deliveredAt", e.attempts
      FROM events e
      JOIN status_changes c ON c.id = e.status_change_id
      JOIN transactions t ON t.id = c.transaction_id
      ORDER BY e.status_change_id DESC LIMIT ${limit}`;
  }

  /** Makes an event due again, under its ID. Returns false for an unknown event. */
  async resend(id: string): Promise<boolean> {
    const { count } = await this.database.event.updateMany({
      where: { id },
      data: { dueAt: new Date(), tries: 0 },
    });
    return count > 0;
  }

  async clear(): Promise<void> {
    await this.database.$executeRaw`TRUNCATE events`;
  }

  private deliverSoon(ms: number): void {
    this.timer = setTimeout(() => {
      this.delivering = this.deliverDue().then((delivered) => {
        if (!this.stopped.signal.aborted) this.deliverSoon(delivered < BATCH ? POLL_MS : 0);
      });
    }, ms);
  }

  /** Delivers due events. Returns their number. */
  private async deliverDue(): Promise<number> {
    const { url, reversed } = this.behaviour.events;
    if (url === '' && !this.accountsListen) return 0;
    try {
      const due = await this.due(url !== '');
      for (const event of reversed ? due.reverse() : due) {
        // The remaining events stay due.
        if (this.stopped.signal.aborted || this.behaviour.events.url !== url) break;
        await this.deliver(event);
      }
      return due.length;
    } catch (error) {
      if (!this.stopped.signal.aborted)
        process.stderr.write(`sandbox: events delayed: ${(error as Error).name}\n`);
      return 0;
    }
  }

  /** Returns the due events with a receiver. `forAll`: the settings have a receiver for all. */
  private due(forAll: boolean): Promise<DueEvent[]> {
    return this.database.$queryRaw`
      SELECT e.id, c.status, t.id AS "transactionId", t.chi_ref AS "chiRef", t.issue_id AS "issueID", t.type,
        t.value_in_usd AS "valueInUSD", e.tries, e.due_at AS "dueAt", receiver.url, receiver.secret
      FROM events e
      JOIN status_changes c ON c.id = e.status_change_id
      JOIN transactions t ON t.id = c.transaction_id
      LEFT JOIN event_receivers receiver ON receiver.account_id = t.issuer_id
      WHERE e.due_at <= clock_timestamp() AND (${forAll} OR receiver.url IS NOT NULL)
      ORDER BY e.status_change_id LIMIT ${BATCH}`;
  }

  /** Delivers all copies of an event. One accepted copy suffices. */
  private async deliver(event: DueEvent): Promise<void> {
    const attempts: Attempt[] = [];
    const { events } = this.behaviour;
    const settings = { ...events, url: event.url ?? events.url, secret: event.secret ?? events.secret };
    for (let copy = 0; copy < settings.copies; copy++) attempts.push(await this.attempt(event, settings));
    if (this.stopped.signal.aborted) return; // An aborted attempt does not count.
    const delivered = attempts.some(
      ({ httpStatus }) => httpStatus !== null && httpStatus >= 200 && httpStatus < 300,
    );
    const wait = RETRY_AFTER_MS[event.tries];
    const dueAgain = delivered || wait === undefined ? null : new Date(Date.now() + wait);
    // An event that was resent meanwhile stays due.
    await this.database.$executeRaw`
      UPDATE events
      SET tries = tries + 1, attempts = attempts || ${JSON.stringify(attempts)}::jsonb,
        due_at = CASE WHEN due_at = ${event.dueAt} THEN ${dueAgain}::timestamptz ELSE due_at END,
        delivered_at = CASE WHEN ${delivered} THEN clock_timestamp() ELSE delivered_at END
      WHERE id = ${event.id}`;
  }

  private async attempt(event: DueEvent, { url, secret }: EventSettings): Promise<Attempt> {
    const at = new Date();
    const body = eventBody(event, this.behaviour);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...signatureHeaders(event.id, body, secret, at) },
        body,
        redirect: 'manual', // Only a 2xx of this address counts.
        signal: AbortSignal.any([this.stopped.signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]),
      });
      await response.body?.cancel();
      return { at: at.toISOString(), httpStatus: response.status, error: null };
    } catch (error) {
      const { name, cause } = error as { name: string; cause?: { code?: string } };
      return { at: at.toISOString(), httpStatus: null, error: cause?.code ?? name };
    }
  }
}

/** A status change to send, with its transaction. */
interface DueEvent {
  id: string;
  status: string;
  transactionId: string;
  chiRef: string;
  issueID: string;
  type: string;
  valueInUSD: Decimal.Value;
  /** Number of delivery attempts since it was created or resent. */
  tries: number;
  dueAt: Date;
  /** Address and secret of the account. Null uses the settings'. */
  url: string | null;
  secret: string | null;
}

const BASE64_SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const NUMERIC_DIGITS = 12; // Hexadecimal digits that a JSON number keeps exactly.

/**
 * Returns the body of an event (docs/reference/upstream.md, "Events"). `numericChiRefInEvents` (trap 4) makes
 * a number of the chiRef's first digits. `newStatusWords` (trap 10) and `words.events` replace the status.
 */
function eventBody(event: DueEvent, { quirks, words }: Behaviour): string {
  const { issueID, chiRef, transactionId, type, valueInUSD } = event;
  const status = shownStatus(event.status, quirks, words.events);
  return JSON.stringify({
    eventType: `transaction.${status}`,
    issueID,
    status,
    chiRef: quirks.numericChiRefInEvents
      ? parseInt(chiRef.replaceAll('-', '').slice(0, NUMERIC_DIGITS), 16)
      : chiRef,
    amount: new Decimal(valueInUSD).toNumber(),
    meta: { id: transactionId, type },
  });
}

/** Returns the headers that sign a delivery at `at`, under both observed names. */
function signatureHeaders(id: string, body: string, secret: string, at: Date): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const mac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  const values = { id, timestamp, signature: `v1,${mac}` };
  return Object.fromEntries(
    ['svix', 'webhook'].flatMap((name) =>
      Object.entries(values).map(([part, value]) => [`${name}-${part}`, value]),
    ),
  );
}

function keyOf(secret: string): Buffer {
  const encoded = BASE64_SECRET.exec(secret)?.[1];
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
}
