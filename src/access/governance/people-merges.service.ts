import { Injectable } from '@nestjs/common';
import { SidePrisma } from '../../platform/database/side-prisma';
import { ChangeAuthor, ChangeRecords } from '../clients/changes';
import { MergeDocument, mergePeople, NamedMerge, readMerge } from '../people/merges';
import { GovernanceService, Waiting } from './governance.service';

/** Merges people. With dual control, two persons say that two people are one human. */
@Injectable()
export class PeopleMergesService {
  constructor(
    private readonly prisma: SidePrisma,
    private readonly governance: GovernanceService,
    private readonly records: ChangeRecords,
  ) {}

  /** @throws ClientError, Problem */
  async merge(named: NamedMerge, by: ChangeAuthor): Promise<MergeDocument | Waiting> {
    if (!this.governance.isOn) return mergePeople(this.prisma, this.records, named, by);
    const change = { permissions: {}, merge: await readMerge(this.prisma, named) };
    return this.governance.ask({ kind: 'merge_people', client: null, widens: ['people'], before: null, change }, by);
  }
}
