import { Injectable } from '@nestjs/common';
import { Author } from '../../access/auth/call';
import { ChangeAuthor, ChangeRecords, ClientChange } from '../../access/clients/changes';
import { StopLiftDocument, StopLifts } from '../../access/dual-control/change-document';
import { DualControlService } from '../../access/dual-control/dual-control.service';
import { RequestedChange } from '../../access/dual-control/pending-changes';
import { readUnread, UnreadGap } from '../../journal/stops/recovery-gap';
import {
  insertStop,
  insertStopLift,
  isOwnRecentStop,
  needsRecovery,
  StopAuthor,
} from '../../journal/stops/stops';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { isUuid } from '../../platform/database/uuid';
import { Problem } from '../../platform/errors/problem';
import { StopAuthorRecord, StopRecord } from './stops.dto';

type StopRow = Prisma.StopGetPayload<{ include: { lift: true } }>;

/** Target of a stop: a client by name, an operation, or everything without both. */
export interface StopTarget {
  client?: string | undefined;
  operation?: string | undefined;
}

/** Adds and lifts stops. A committed stop applies to every intent on every instance. */
@Injectable()
export class StopsService implements StopLifts {
  constructor(
    private readonly prisma: SidePrisma,
    private readonly records: ChangeRecords,
  ) {}

  /**
   * Adds a stop. Idempotent per target.
   * @returns the active stop, and whether it is new. Undefined for an unknown client.
   */
  async stop(
    target: StopTarget,
    reason: string,
    by: StopAuthor,
  ): Promise<{ stop: StopRecord; added: boolean } | undefined> {
    const clientId = target.client === undefined ? null : await this.idOf(target.client);
    if (clientId === undefined) return undefined;
    const operation = target.operation ?? null;
    const { id, added } = await insertStop(this.prisma, { clientId, operation, reason }, by);
    const [stop] = await this.read({ id });
    return stop && { stop, added };
  }

  /**
   * Lists stops, newest first.
   * @param all also returns lifted stops.
   */
  async list(all: boolean): Promise<StopRecord[]> {
    return this.read(all ? {} : { lift: null });
  }

  /**
   * Lifts a stop.
   * @param unreconciled lifts it before the upstream's list of the recovery gap was read.
   * @returns the lifted stop. Undefined if no active stop has this ID.
   * @throws Problem before the database is recovered, or while payments of its recovery gap may be missing.
   */
  async lift(id: string, by: ChangeAuthor, unreconciled = false): Promise<StopRecord | undefined> {
    const isLifted = await this.prisma.$transaction((tx) => this.liftIn(tx, { id, unreconciled }, by));
    return isLifted ? (await this.read({ id }))[0] : undefined;
  }

  async liftIn(tx: Prisma.TransactionClient, { id, unreconciled }: Lift, by: ChangeAuthor): Promise<boolean> {
    if (!isUuid(id) || !(await isActive(tx, id))) return false;
    await requireReadGap(tx, { id, unreconciled });
    const isLifted = await insertStopLift(tx, id, stopAuthorOf(by), unreconciled);
    if (isLifted && by.isEmergency) await this.records.record(tx, [EMERGENCY], by);
    return isLifted;
  }

  /** Returns an active stop that can be lifted. Undefined if no active stop has this ID. @throws Problem */
  async liftable(id: string, unreconciled: boolean): Promise<StopRecord | undefined> {
    if (!isUuid(id)) return undefined;
    const [stop] = await this.read({ id, lift: null });
    if (stop) await requireReadGap(this.prisma, { id, unreconciled });
    return stop;
  }

  private async idOf(name: string): Promise<string | undefined> {
    const client = await this.prisma.client.findUnique({ where: { name }, select: { id: true } });
    return client?.id;
  }

  private async read(where: Prisma.StopWhereInput): Promise<StopRecord[]> {
    const rows = await this.prisma.stop.findMany({ where, include: { lift: true }, orderBy: { id: 'desc' } });
    const clients = await this.prisma.client.findMany({ select: { id: true, name: true } });
    const names = new Map(clients.map(({ id, name }) => [id, name]));
    return rows.map((row) => toRecord(row, (id) => names.get(id) ?? id));
  }
}

function toRecord(row: StopRow, nameOf: (clientId: string) => string): StopRecord {
  return {
    id: row.id,
    everything: row.stopsClientId === null && row.stopsOperation === null,
    client: row.stopsClientId && nameOf(row.stopsClientId),
    operation: row.stopsOperation,
    reason: row.reason,
    cause: row.cause as StopRecord['cause'],
    stopped_at: row.stoppedAt,
    stopped_by: author(row, nameOf),
    lifted_at: row.lift?.liftedAt ?? null,
    lifted_by: row.lift && author(row.lift, nameOf),
    unreconciled: row.lift?.unreconciled ?? false,
  };
}

type Lift = Pick<StopLiftDocument, 'id' | 'unreconciled'>;

/** Record of a lift that bypassed dual control. */
const EMERGENCY: ClientChange = {
  action: 'emergency_change',
  client: null,
  keyId: null,
  before: null,
  after: { acts: ['stop_lifted'] },
};

async function isActive(tx: Prisma.TransactionClient, id: string): Promise<boolean> {
  return (await tx.stop.count({ where: { id, lift: null } })) > 0;
}

/** Requires a recovered database, and a read recovery gap. @throws Problem */
async function requireReadGap(tx: Prisma.TransactionClient, { id, unreconciled }: Lift): Promise<void> {
  if (await needsRecovery(tx, id)) throw new Problem('recovery_required');
  const unread = unreconciled ? undefined : await readUnread(tx, id);
  if (unread) throw new Problem('recovery_required', { text: whyUnread(unread) });
}

/** Returns the author of a change as the author of a stop. */
export function stopAuthorOf({ clientId, keyId, actor, via }: ChangeAuthor): StopAuthor {
  if (clientId === null || keyId === null) return { clientId: null, keyId: null, actor };
  return { clientId, keyId, actor, via: via === 'console' ? 'console' : 'api' };
}

const OR_UNRECONCILED =
  'If the list cannot be read, compare it yourself and lift the stop with unreconciled=true (command line: ' +
  '--unreconciled). Nothing was changed.';

/** Explains why a stop cannot be lifted, with the remedy. */
function whyUnread({ account, runId, from, to, result }: UnreadGap): string {
  const period = `of the upstream account ${account} from ${from.toISOString()} to ${to.toISOString()}`;
  const risk = `Payments ${period} may be missing.`;
  if (runId === null)
    return `${risk} Start a reconciliation run of this account and period. ${OR_UNRECONCILED}`;
  if (result === null)
    return (
      `${risk} The reconciliation run ${runId} reads them from the upstream's list and has not ended. ` +
      'Wait for its end. A worker must run to carry it out. Nothing was changed.'
    );
  return (
    `${risk} The reconciliation run ${runId} could not read the upstream's list completely. ` +
    `Start another run of this account and period. ${OR_UNRECONCILED}`
  );
}

/** Returns the author of a stop or its lift. Null for the proxy itself. */
function author(
  { clientId, keyId, actor }: Pick<StopRow, keyof Author>,
  nameOf: (id: string) => string,
): StopAuthorRecord | null {
  if (clientId === null && actor === null) return null;
  return { client: clientId && nameOf(clientId), key_id: keyId, actor };
}

/**
 * Lifts stops for administrators. With dual control, a person can lift only their own recent stop alone.
 * Every other lift waits for a second person, because the stop may protect against the first one's client.
 */
@Injectable()
export class StopLiftingService {
  constructor(
    private readonly prisma: SidePrisma,
    private readonly stops: StopsService,
    private readonly dualControl: DualControlService,
  ) {}

  /** @returns undefined if no active stop has this ID. */
  async lift(
    id: string,
    unreconciled: boolean,
    by: ChangeAuthor,
  ): Promise<StopRecord | RequestedChange | undefined> {
    const stop = await this.stops.liftable(id, unreconciled);
    if (!stop) return undefined;
    if (!this.dualControl.isOn || (!unreconciled && (await isOwnRecentStop(this.prisma, id, by.keyId)))) {
      return this.stops.lift(id, by, unreconciled);
    }
    const change = { permissions: {}, stop: { id, stops: describe(stop), unreconciled } };
    return this.dualControl.request(
      { kind: 'lift_stop', client: null, expands: ['stops'], before: null, change },
      by,
    );
  }
}

/** Returns the scope and the reason of a stop, for the second person. */
function describe({ client, operation, reason }: StopRecord): string {
  return `${client === null ? (operation ?? 'everything') : `client ${client}`}: ${reason}`;
}
