import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import { PrismaService } from '../../platform/database/prisma.service';
import { hashKey } from './key';

/** Where payouts go, as far as it tells one upstream from another. */
export interface UpstreamName {
  url: string;
  apiKey: string;
}

/** Demo clients are made beside the sandbox, with keys that lie in a file. They belong to that sandbox alone. */
@Injectable()
export class DemoClientsService {
  constructor(private readonly prisma: PrismaService) {}

  /** Remembers that these keys' clients, and all demo clients there are, belong to this sandbox. */
  async markAs(sandbox: UpstreamName, keys: string[]): Promise<void> {
    await this.prisma.$executeRaw`
      UPDATE client SET demo_of = ${nameOf(sandbox)}
      WHERE demo_of IS NOT NULL OR id IN (SELECT client_id FROM api_key WHERE sha256 = ANY (${keys.map(hashKey)}::bytea[]))`;
  }

  /** The same of clients that an older version made, which did not say of which sandbox. */
  async markOld(keys: string[]): Promise<void> {
    await this.prisma.$executeRaw`
      UPDATE client SET demo_of = ''
      WHERE demo_of IS NULL AND id IN (SELECT client_id FROM api_key WHERE sha256 = ANY (${keys.map(hashKey)}::bytea[]))`;
  }

  /** The names of demo clients with a key that opens, and that belong to another upstream than this one. */
  async strangersTo(upstream: UpstreamName): Promise<string[]> {
    const rows = await this.prisma.$queryRaw<{ name: string }[]>`
      SELECT name FROM client c WHERE demo_of <> ${nameOf(upstream)} AND EXISTS (
        SELECT FROM api_key k WHERE k.client_id = c.id AND k.revoked_at IS NULL
          AND (k.expires_at IS NULL OR k.expires_at > now()))
      ORDER BY name`;
    return rows.map(({ name }) => name);
  }
}

function nameOf({ url, apiKey }: UpstreamName): Buffer {
  return hash('sha256', `${url} ${apiKey}`, 'buffer');
}
