import { Injectable, OnModuleInit } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/client';
import { sha256, setting } from './settings';

const POOL_SIZE = 10; // As many as the product has by default.
const SCHEMA = 'plain';
const TABLES = [
  `CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`,
  `CREATE TABLE IF NOT EXISTS ${SCHEMA}.api_key (id uuid PRIMARY KEY, sha256 text NOT NULL UNIQUE)`,
  `CREATE TABLE IF NOT EXISTS ${SCHEMA}.payout_record (
     id uuid PRIMARY KEY,
     key_id uuid NOT NULL,
     operation text NOT NULL,
     body jsonb NOT NULL,
     created_at timestamptz NOT NULL DEFAULT now(),
     status integer,
     answer jsonb,
     answered_at timestamptz
   )`,
];

@Injectable()
export class PrismaService extends PrismaClient implements OnModuleInit {
  constructor() {
    const connection = { connectionString: setting('DATABASE_URL'), max: POOL_SIZE };
    super({ adapter: new PrismaPg(connection, { schema: SCHEMA }) });
  }

  async onModuleInit(): Promise<void> {
    for (const table of TABLES) await this.$executeRawUnsafe(table);
    const key = { sha256: sha256(setting('API_KEY')) };
    await this.apiKey.upsert({ where: key, create: key, update: {} });
  }
}
