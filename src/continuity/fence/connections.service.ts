import { Injectable } from '@nestjs/common';
import { ClientBase } from 'pg';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { Comparison } from '../epoch/epoch-comparison';
import { Beat } from '../heartbeat/beat';
import { HeartbeatService } from '../heartbeat/heartbeat.service';
import { DurabilityService } from './durability.service';
import { FenceReason, FenceService } from './fence.service';

/** The properties of a connection at its opening. */
interface Session {
  /** The server, from database_server(). Null on a standby. */
  server: string | null;
  isSafe: boolean;
}

const ELSEWHERE =
  'New connections reach another database server, or another timeline, than the last heartbeat. ' +
  'Payments resume once a heartbeat is confirmed there and nothing is missing.';

/**
 * Keeps the connections of payments on the heartbeat's server, with settings as safe as those of its session.
 * During a failover, connections to the old server can survive while new ones reach the new server. A
 * connection that disagrees with the last heartbeat therefore fences the instance, and the next heartbeat
 * uses a new connection. Connections that disagree with a heartbeat are closed in the turn of its
 * notification.
 * See docs/internals/decisions/operation/0041-several-database-servers.md.
 */
@Injectable()
export class ConnectionsService {
  private readonly sessions = new WeakMap<ClientBase, Session>();
  /** The session of the last heartbeat. Undefined until the next one shows it. */
  private known: Session | undefined;
  /** The server of the last heartbeat. */
  private server: string | undefined;
  private readonly listeners: (() => void)[] = [];

  constructor(
    private readonly prisma: PrismaService,
    private readonly side: SidePrisma,
    private readonly heartbeat: HeartbeatService,
    private readonly durability: DurabilityService,
    private readonly fence: FenceService,
  ) {
    heartbeat.observe((beat) => this.hear(beat));
    prisma.watchServers((server) => this.compare(server));
  }

  /**
   * Compares a new connection with the last heartbeat before its first use.
   * @param found undefined if the database lacks the tables. The next heartbeat then closes the connection.
   */
  judge(client: ClientBase, found: Comparison | undefined): void {
    if (!found) return;
    const danger = this.durability.dangerOf(found.settings);
    this.sessions.set(client, { server: found.server, isSafe: danger === undefined });
    if (!this.known) return; // Before the first heartbeat, or fenced until the next one.
    if (found.server !== this.known.server) return this.stop('database_unconfirmed', ELSEWHERE);
    if (danger !== undefined && this.known.isSafe) this.stop('durability_unsafe', danger);
  }

  /** Calls a listener after the heartbeat has moved to another server. */
  onMove(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** A pooler can move to another server under living connections. The fence stops admissions there. */
  private compare(server: string): void {
    if (this.known && server !== this.known.server) this.stop('database_unconfirmed', ELSEWHERE);
  }

  /** Stops payments until the next heartbeat, which uses a new connection. */
  private stop(reason: FenceReason, detail: string): void {
    this.fence.raise(reason, detail);
    this.known = undefined;
    this.heartbeat.reconnect();
  }

  private hear({ systemIdentifier, timeline, settings }: Beat): void {
    const server = `${systemIdentifier}/${timeline}`;
    const isSafe = this.durability.dangerOf(settings) === undefined;
    this.known = { server, isSafe };
    const isStale = (client: ClientBase) => {
      const session = this.sessions.get(client);
      return session?.server !== server || (isSafe && !session.isSafe);
    };
    this.prisma.giveUpConnections(isStale);
    this.side.giveUpConnections(isStale);
    const hasMoved = this.server !== undefined && server !== this.server;
    this.server = server;
    if (!hasMoved) return;
    this.prisma.reader.giveUpConnections();
    for (const listener of this.listeners) listener();
  }
}
