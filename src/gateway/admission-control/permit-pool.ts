import { ActiveClients } from './active-clients';
import { Permit, Priority } from './permit';

/** Share of the permits that one client leaves to the others. */
const RESERVED_FOR_OTHERS = 1 / 4;

/** Largest share of the permits for reads. */
const SHARE_OF_READS = 1 / 2;

/** Largest share of the permits for queued calls. The others stay free for requests. */
const SHARE_OF_QUEUE = 3 / 4;

/** A limit that a request has reached, so that it waits for the return of a counted permit. */
export interface ReachedLimit {
  name: 'permits' | 'reads' | `client ${string}`;
  counts: (permit: Permit) => boolean;
  /** Whether it counts only permits of the client. */
  isOwn: boolean;
}

/** The permits of a shedder, and the shares of them that clients and reads may use. */
export class PermitPool {
  /** In the order in which they were taken. */
  private readonly inUse = new Set<Permit>();
  private readonly usedBy = new Map<string, number>();
  private usedByReads = 0;
  private usedByQueue = 0;
  private usedAtLastTake = 0;

  constructor(
    private readonly size: number,
    private readonly clients: ActiveClients,
  ) {}

  get used(): number {
    return this.inUse.size;
  }

  /**
   * Permits that are usually in use while others wait: those at the last take. While a database fails, they
   * are returned and none is taken.
   */
  get usedAtOnce(): number {
    return Math.max(1, this.usedAtLastTake);
  }

  get permits(): Permit[] {
    return [...this.inUse];
  }

  /** Whether a request may take a permit. */
  hasFor(client: string, priority: Priority): boolean {
    return (
      this.used < this.size &&
      !(priority === 'read' && this.isShareOfReadsUsed) &&
      !this.isShareUsedBy(client)
    );
  }

  /** Whether a queued call may take a permit. */
  hasForQueue(client: string): boolean {
    return this.hasFor(client, 'payment') && this.usedByQueue < Math.max(1, this.size * SHARE_OF_QUEUE);
  }

  add(permit: Permit): void {
    this.inUse.add(permit);
    this.count(permit, 1);
    this.usedAtLastTake = this.used;
  }

  remove(permit: Permit): void {
    this.inUse.delete(permit);
    this.count(permit, -1);
  }

  /** Returns the limits that a waiting request can expect, beginning with that of all permits. */
  limitsOn(client: string, priority: Priority): ReachedLimit[] {
    const limits: ReachedLimit[] = [{ name: 'permits', counts: () => true, isOwn: false }];
    if (priority === 'read' && this.isShareOfReadsUsed)
      limits.push({ name: 'reads', counts: (permit) => permit.priority === 'read', isOwn: false });
    if (this.isFairShareUsedBy(client))
      limits.push({ name: `client ${client}`, counts: (permit) => permit.client === client, isOwn: true });
    return limits;
  }

  /** Whether a client beside others gets turns only by its own permits. The others go on using theirs. */
  private isFairShareUsedBy(client: string): boolean {
    const clients = this.clients.countWith(client);
    return clients > 1 && (this.usedBy.get(client) ?? 0) >= this.size / clients;
  }

  private get isShareOfReadsUsed(): boolean {
    return this.usedByReads >= Math.ceil(this.size * SHARE_OF_READS);
  }

  private isShareUsedBy(client: string): boolean {
    const share = this.size - Math.floor(this.size * RESERVED_FOR_OTHERS);
    return (this.usedBy.get(client) ?? 0) >= share && this.clients.hasOthers(client);
  }

  private count({ client, priority, isOfQueue }: Permit, change: 1 | -1): void {
    if (priority === 'read') this.usedByReads += change;
    if (isOfQueue) this.usedByQueue += change;
    const used = (this.usedBy.get(client) ?? 0) + change;
    if (used === 0) this.usedBy.delete(client);
    else this.usedBy.set(client, used);
  }
}
