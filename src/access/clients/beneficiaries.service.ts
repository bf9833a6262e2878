import { Injectable } from '@nestjs/common';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { ChangeAuthor, ChangeRecords } from './changes';
import { lockClient } from './client-writes';
import { ClientsService, TRANSACTION_LIMITS } from './clients.service';
import { RegisterList } from './register-lists';
import {
  listed,
  ListedBeneficiary,
  RegisterChange,
  RegisterChangeResult,
  RegisterWrites,
  toWrite,
} from './register-writes';

/**
 * Manages the recipient registers of clients. Every change locks the client, as admission does, so later
 * calls obey it. Every change is recorded in its own transaction. Recipients are stored as hashes and masks.
 */
@Injectable()
export class BeneficiariesService {
  private readonly writes: RegisterWrites;

  constructor(
    private readonly prisma: SidePrisma,
    private readonly clients: ClientsService,
    records: ChangeRecords,
  ) {
    this.writes = new RegisterWrites(records);
  }

  /** Changes a register without dual control. @throws ClientError */
  async change(name: string, change: RegisterChange, author: ChangeAuthor): Promise<RegisterChangeResult> {
    return this.prisma.$transaction(async (tx) => {
      const client = await lockClient(tx, name);
      return this.writes.change(tx, client, toWrite(client.id, change), author);
    }, TRANSACTION_LIMITS);
  }

  /**
   * Lists a register, oldest entries first.
   * @param after the ID of the previous page's last entry.
   */
  async list(
    name: string,
    { list, after, limit }: { list?: RegisterList | undefined; after?: string | undefined; limit: number },
  ): Promise<ListedBeneficiary[]> {
    const client = await this.clients.find(name);
    const where = { clientId: client.id, ...(list && { list }), ...(after && { id: { gt: after } }) };
    const entries = await this.prisma.beneficiary.findMany({ where, orderBy: { id: 'asc' }, take: limit });
    return entries.map(listed);
  }
}
