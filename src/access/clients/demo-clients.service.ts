import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { hashKey, OPENS } from './key';

/** Identifies an upstream by its address. */
interface UpstreamName {
  url: string;
  apiKey: string;
}

/** Binds demo clients to their sandbox: their keys are in a file, so no other upstream may accept them. */
@Injectable()
export class DemoClientsService {
  constructor(private readonly prisma: SidePrisma) {}

  /** Binds the clients of these keys and all existing demo clients to this sandbox. */
  async markAs(sandbox: UpstreamName, keys: string[]): Promise<void> {
    await this.prisma.$executeRaw`
      UPDATE client SET demo_of = ${nameOf(sandbox)}
      WHERE demo_of IS NOT NULL OR id IN (SELECT client_id FROM api_key
        WHERE sha256 = ANY (${keys.map(hashKey)}::bytea[]))`;
  }

  /** Marks demo clients without a sandbox, because their start ended before `markAs`. */
  async markUnbound(keys: string[]): Promise<void> {
    await this.prisma.$executeRaw`
      UPDATE client SET demo_of = ''
      WHERE demo_of IS NULL AND id IN (SELECT client_id FROM api_key
        WHERE sha256 = ANY (${keys.map(hashKey)}::bytea[]))`;
  }

  /** Returns the names of demo clients with a valid key and another upstream. */
  async foreignDemoClients(upstream: UpstreamName): Promise<string[]> {
    const rows = await this.prisma.$queryRaw<{ name: string }[]>`
      SELECT name FROM client c WHERE demo_of <> ${nameOf(upstream)} AND EXISTS (
        SELECT FROM api_key k WHERE k.client_id = c.id AND ${Prisma.raw(OPENS)})
      ORDER BY name`;
    return rows.map(({ name }) => name);
  }
}

function nameOf({ url, apiKey }: UpstreamName): Buffer {
  return hash('sha256', `${url} ${apiKey}`, 'buffer');
}
