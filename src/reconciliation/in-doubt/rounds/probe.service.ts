import { Inject, Injectable, Logger } from '@nestjs/common';
import { ClientsService } from '../../../access/clients/clients.service';
import { ageOf, now } from '../../../continuity/heartbeat/instant';
import { withPayoutIds } from '../../../gateway/forwarding/forwarding.service';
import { outcomeOf } from '../../../gateway/forwarding/outcome/outcome';
import { MayPay } from '../../../gateway/may-pay/may-pay.service';
import { toOutgoing, deletionOf, unpaidLinkFor } from '../../../gateway/upstream/transport/outgoing';
import { UpstreamService } from '../../../gateway/upstream/upstream.service';
import { insertOutcomes } from '../../../journal/outcomes/outcomes';
import { ofAccount } from '../../../journal/records/accounts';
import { insertIntents } from '../../../journal/records/intents';
import { NewIntent, NewOutcome } from '../../../journal/records/records';
import { NAMED_IN_ANSWER } from '../../../operations/items/effects';
import { itemsOf } from '../../../operations/items/items';
import { StatusVocabulary } from '../../../operations/lifecycle/statuses';
import { RunningConfig, SETTINGS } from '../../../platform/config/config';
import { MAIN_ACCOUNT } from '../../../platform/config/upstream/upstream-accounts';
import { sendableForMs } from '../../../platform/config/upstream/upstream-timeouts';
import { clock } from '../../../platform/database/clock';
import { Prisma } from '../../../platform/database/generated/client';
import { newId } from '../../../platform/database/ids';
import { PrismaService } from '../../../platform/database/pools/prisma.service';
import { idFloor, uuidFloor } from '../../../platform/database/uuid';

/** Name of the client that sends an account's probes. Its key is revoked at once. */
const probeClientOf = (account: string) =>
  account === MAIN_ACCOUNT ? 'listing-probe' : `listing-probe-${account}`;

const CREATE = 'POST /payouts/initiate-credit';
const DELETE = 'POST /account/delete-unpaid-transaction';

/** Age after which a probe is deleted even if it is unlisted. The listing is then outdated for long. */
const KEPT_MS = 3_600_000;

/** Period in which undeleted probes are searched, in ms. */
const CLEARED_MS = 7 * 24 * 3_600_000;

/**
 * Condition: a call of ours has deleted the transaction `n` of the call `i`, or its deletion was refused.
 * @param first an ID before that of `i`. It lets Postgres skip the partitions of earlier months.
 */
const isDeleted = (first: string) => Prisma.sql`EXISTS (
  SELECT FROM intent d JOIN intent_item e ON e.intent_id = d.id JOIN outcome f ON f.intent_id = d.id
  WHERE d.id > i.id AND d.id > ${first}::uuid
    AND e.intent_id > ${first}::uuid AND f.intent_id > ${first}::uuid
    AND d.operation = ${DELETE} AND e.upstream_ref = n.upstream_ref AND f.kind IN ('succeeded', 'rejected'))`;

type ProbeOperation = typeof CREATE | typeof DELETE;

/**
 * Creates payment links that are never paid. They show how current the listing is while no app makes a call.
 * They move no money, are recorded like any call, and are deleted once they are listed.
 */
@Injectable()
export class ProbeService {
  private readonly logger = new Logger('Probe');
  private readonly email: string | undefined;
  private readonly vocabulary: StatusVocabulary;
  private readonly sendableForMs: number;

  constructor(
    private readonly prisma: PrismaService,
    private readonly clients: ClientsService,
    private readonly upstream: UpstreamService,
    private readonly mayPay: MayPay,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    this.email = settings.resolverProbeEmail;
    this.vocabulary = StatusVocabulary.with(settings.upstreamStatusWords);
    this.sendableForMs = sendableForMs(settings);
  }

  /**
   * Creates a probe, unless a call of ours was sent after the given time: the listing shows that call equally
   * well. A failure is logged, and the calls in doubt wait for the next round.
   */
  async sendAfter(account: string, time: Date): Promise<void> {
    const { email } = this;
    if (email === undefined) return;
    try {
      if (await this.wasAnySentSince(account, time)) return;
      const { intentId, kind } = await this.call(account, CREATE, unpaidLinkFor(email));
      if (kind !== 'succeeded')
        this.logger.warn({ account, call_id: intentId, outcome: kind }, 'probe not created');
    } catch (err) {
      this.logger.warn({ account, err }, 'probe not created');
    }
  }

  /** Deletes the probes that a reading of the listing shows, and those that are older than an hour. */
  async clear(account: string, readId: string): Promise<void> {
    if (this.email === undefined) return;
    try {
      for (const ref of await this.readLeft(account, readId))
        await this.call(account, DELETE, deletionOf(ref));
    } catch (err) {
      this.logger.warn({ account, err }, 'probe not deleted, will retry');
    }
  }

  /** Returns whether a call was sent since a time, with transactions that the listing can still show. */
  private async wasAnySentSince(account: string, time: Date): Promise<boolean> {
    const first = idFloor(time);
    const rows = await this.prisma.$queryRaw<unknown[]>`
      SELECT 1 FROM intent i JOIN outcome o ON o.intent_id = i.id JOIN outcome_item n ON n.intent_id = i.id
      WHERE i.id >= ${first}::uuid AND o.intent_id >= ${first}::uuid AND n.intent_id >= ${first}::uuid
        AND i.operation = ANY (${[...NAMED_IN_ANSWER]}::text[])
        AND o.kind = 'succeeded' AND o.sent_at >= ${time}::timestamptz
        AND coalesce(n.upstream_ref, n.upstream_id) IS NOT NULL AND ${ofAccount('i.client_id', account)}
        AND NOT ${isDeleted(first)}
      LIMIT 1`;
    return rows.length > 0;
  }

  /** Reads the references of probes to delete. Omits those whose deletion the upstream refused. */
  private async readLeft(account: string, readId: string): Promise<string[]> {
    const first = uuidFloor(new Date(clock.nowMs() - CLEARED_MS));
    const rows = await this.prisma.$queryRaw<{ ref: string }[]>`
      SELECT n.upstream_ref AS ref FROM intent i JOIN client c ON c.id = i.client_id
      JOIN outcome o ON o.intent_id = i.id JOIN outcome_item n ON n.intent_id = i.id
      WHERE i.id >= ${first}::uuid AND o.intent_id >= ${first}::uuid AND n.intent_id >= ${first}::uuid
        AND c.name = ${probeClientOf(account)}
        AND i.operation = ${CREATE} AND n.upstream_ref IS NOT NULL AND NOT ${isDeleted(first)}
        AND (o.sent_at < ${new Date(clock.nowMs() - KEPT_MS)}::timestamptz
          OR EXISTS (
            SELECT FROM upstream_transaction t
            WHERE t.read_id = ${readId}::uuid AND t.upstream_ref = n.upstream_ref))`;
    return rows.map(({ ref }) => ref);
  }

  /**
   * Sends a call of the probe's client, and records it like any other. It moves no money, so nothing is
   * reserved.
   * @throws Problem if it may not be sent now. Nothing was recorded then.
   */
  private async call(account: string, operation: ProbeOperation, body: object): Promise<NewOutcome> {
    const id = newId();
    const sent = withPayoutIds(operation, id, body);
    const upstream = this.upstream.of(account);
    const outgoing = toOutgoing(upstream, operation, sent);
    const items = itemsOf(operation, sent);
    const caller = await this.caller(account);
    const intent = {
      id,
      requestId: id,
      traceparent: undefined,
      clientAddress: '127.0.0.1',
      receivedAt: clock.now(),
      caller,
      person: null,
      operation,
      query: null,
      body: outgoing.body,
      items,
      coverage: null,
      screening: null,
    };
    try {
      await this.mayPay.requireSending(caller.clientId, { account: upstream, outgoing }, 'app');
      // No process has this number: without an outcome, the call is in doubt at once.
      const released = now();
      await insertIntents(this.prisma, [{ ...intent, process: 0 }]);
      const isTooLate = () => ageOf(released) > this.sendableForMs;
      const answer = await upstream.send(outgoing, undefined, isTooLate);
      const outcome = outcomeOf({ id, operation, feeRule: null }, items, answer, this.vocabulary);
      await insertOutcomes(this.prisma, [outcome]);
      return outcome;
    } finally {
      upstream.giveUp(outgoing);
    }
  }

  /** Returns the client of an account's probes. Creates it with the first probe, and revokes its key. */
  private async caller(account: string): Promise<NewIntent['caller']> {
    const known = await this.find(account);
    if (known) return known;
    await this.clients.create(probeClientOf(account), ['write'], { account, operations: [CREATE, DELETE] });
    const created = await this.find(account);
    if (!created) throw new Error('the client of probes has no key');
    await this.clients.revokeKey(created.keyId);
    return created;
  }

  private async find(account: string) {
    const client = { name: probeClientOf(account), account };
    const key = await this.prisma.apiKey.findFirst({ where: { client } });
    const credential = { kind: 'key' } as const;
    return key && { account, clientId: key.clientId, keyId: key.id, credential, rights: '' };
  }
}
