/** The obvious design: a create before, an update after. See ../../plain.mjs. */
import 'reflect-metadata';
import { Module, ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { NestExpressApplication } from '@nestjs/platform-express';
import { PayoutsController } from './payouts.controller';
import { PayoutsService } from './payouts.service';
import { PrismaService } from './prisma.service';

/** The same as Fastify's. Node's five seconds would end while the others have their round. */
const KEEP_ALIVE_MS = 72_000;

@Module({ controllers: [PayoutsController], providers: [PayoutsService, PrismaService] })
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: ['error', 'warn'] });
  app.useBodyParser('json', { limit: '4mb' }); // 500 items are close to the default of 100 kB.
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));
  app.getHttpServer().keepAliveTimeout = KEEP_ALIVE_MS;
  await app.listen(0, '127.0.0.1');
  process.once('SIGTERM', () => process.exit(0));
  process.stdout.write(`${JSON.stringify({ url: await app.getUrl() })}\n`);
}

void main();
