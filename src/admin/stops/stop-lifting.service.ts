import { Injectable } from '@nestjs/common';
import { ChangeAuthor } from '../../access/clients/changes';
import { GovernanceService, Waiting } from '../../access/governance/governance.service';
import { SidePrisma } from '../../platform/database/side-prisma';
import { isOwnRecentStop } from '../../journal/stops';
import { StopRecord } from './stops.dto';
import { StopsService } from './stops.service';

/**
 * Lifts stops for people. With dual control, a person takes back only a stop of their own, and only shortly after it was set. Every
 * other lift waits for a second person, because the stop may protect against the client of the first.
 */
@Injectable()
export class StopLiftingService {
  constructor(
    private readonly prisma: SidePrisma,
    private readonly stops: StopsService,
    private readonly governance: GovernanceService,
  ) {}

  /** @returns undefined if no active stop has this ID. @throws Problem */
  async lift(id: string, unreconciled: boolean, by: ChangeAuthor): Promise<StopRecord | Waiting | undefined> {
    const stop = await this.stops.liftable(id, unreconciled);
    if (!stop) return undefined;
    if (!this.governance.isOn || (!unreconciled && (await isOwnRecentStop(this.prisma, id, by.keyId)))) {
      return this.stops.lift(id, by, unreconciled);
    }
    const change = { permissions: {}, stop: { id, stops: describe(stop), unreconciled } };
    return this.governance.ask({ kind: 'lift_stop', client: null, widens: ['stops'], before: null, change }, by);
  }
}

/** Returns what a stop stops, and why, for the second person. */
function describe({ client, operation, reason }: StopRecord): string {
  return `${client === null ? (operation ?? 'everything') : `client ${client}`}: ${reason}`;
}
