import { defineConfig } from 'prisma/config';

// `prisma generate` never runs the schema engine, yet tries to download it. Naming any executable stops the
// download; migrations are applied in-process by src/platform/database/migrations/migrations.ts.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default defineConfig({ schema: 'prisma/schema.prisma' });
